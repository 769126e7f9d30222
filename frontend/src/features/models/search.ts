import { oneOf, type RawSearch, sortOf, text } from '@/shared/domain/search';

export const modelsSearch = (raw: RawSearch) => ({
  q: text(raw.q),
  sort: sortOf('name', 'accuracy', 'versions', 'updated')(raw.sort),
});
export const modelSearch = (raw: RawSearch) => ({ sort: sortOf('number', 'accuracy', 'created')(raw.sort) });
export const TABS = ['summary', 'evaluations', 'lineage'] as const;
export const modelVersionSearch = (raw: RawSearch) => ({
  tab: oneOf(...TABS)(raw.tab),
  evaluation: text(raw.evaluation),
});
