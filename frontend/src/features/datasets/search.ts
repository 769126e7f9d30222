import { flag, list, number, oneOf, type RawSearch, text } from '@/shared/domain/search';

export const datasetsSearch = (raw: RawSearch) => ({ q: text(raw.q), sort: text(raw.sort) });

export const browseSearch = (raw: RawSearch) => ({
  ref: text(raw.ref),
  path: text(raw.path),
  layout: oneOf('grid', 'list')(raw.layout),
  view: text(raw.view),
  label: text(raw.label),
  split: text(raw.split),
  labelled: flag(raw.labelled),
  type: text(raw.type),
  min: number(raw.min),
  max: number(raw.max),
  where: text(raw.where),
  item: text(raw.item),
  at: number(raw.at),
  size: number(raw.size),
});

/** Also the empty one, which is no label. */
const anyText = (value: unknown) => (value === '' ? '' : text(value));

export { uploadSearch } from './upload/search';
export { warmPlansSearch, warmUpSearch } from './warmup/search';

export const versionsSearch = (raw: RawSearch) => ({ branch: text(raw.branch) });

export const refsSearch = (raw: RawSearch) => ({ q: text(raw.q) });

export const activitySearch = (raw: RawSearch) => ({ kind: list(raw.kind), by: text(raw.by) });

export const diffSearch = (raw: RawSearch) => ({
  from: text(raw.from),
  to: text(raw.to),
  kind: oneOf('added', 'removed', 'changed', 'renamed', 'labels_changed')(raw.kind),
  path: text(raw.path),
  was: anyText(raw.was),
  now: anyText(raw.now),
  page: number(raw.page),
  item: number(raw.item),
});

export const cleaningSearch = (raw: RawSearch) => ({
  ref: text(raw.ref),
  report: text(raw.report),
  kind: oneOf(
    'unreadable',
    'too_large',
    'exact_duplicate',
    'near_duplicate',
    'leak',
    'tiny',
    'dark',
    'blurred',
  )(raw.kind),
});

/** `look` is the run that looked, `run` the one that imports; before both, the choices are made. */
export const labelsSearch = (raw: RawSearch) => ({
  ref: text(raw.ref),
  task: text(raw.task),
  act: text(raw.act),
  transfer: text(raw.transfer),
});
export const importSearch = (raw: RawSearch) => ({
  ref: text(raw.ref),
  path: text(raw.path),
  look: text(raw.look),
  run: text(raw.run),
});
