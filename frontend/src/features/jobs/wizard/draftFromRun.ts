import type { Run } from '@/api/contract/jobs';
import { AUTO, OWN } from '../places/placeWords';
import { COMMAND, type DatasetRow, type Draft, EMPTY_DRAFT, resourceFields } from './draft';
import { linesOfParameters } from './parameterLines';
import { joinWords } from './shellWords';

/** The text of a view is in the selector: the view itself may be another by now. */
function rowOf({ alias, dataset, ref, selector }: Run['datasets'][number]): DatasetRow {
  const { where, split, labelled } = selector;
  return { alias, dataset, ref, where, selected: { split, labelled } };
}

/** The draft that makes a run like `run` again. Values of its environment are not known here: only the names. */
export function draftFromRun(run: Run): Draft {
  return {
    ...EMPTY_DRAFT,
    ...resourceFields(run.resources),
    workflow: run.workflow ?? COMMAND,
    name: run.name,
    parameters: run.workflow ? { ...run.parameters } : {},
    command: run.workflow ? '' : joinWords(run.command),
    parameterLines: run.workflow ? '' : linesOfParameters(run.parameters),
    codeSnapshot: run.code?.id ?? '',
    requirements: run.workflow ? '' : (run.runtime?.requirements ?? ''),
    selections: run.workflow
      ? Object.fromEntries(run.datasets.map(({ alias, selector: { where } }) => [alias, { where }]))
      : {},
    datasets: run.workflow ? [] : run.datasets.map(rowOf),
    deliveries: Object.fromEntries(run.datasets.map(({ alias, delivery }) => [alias, delivery])),
    env: run.env.map((name) => ({ name, value: '', isUnknown: true })),
    secrets: run.secrets,
    timeoutMinutes: run.timeout_s ? run.timeout_s / 60 : null,
    maxRetries: run.max_retries ?? 0,
    mayWrite: run.workflow === null && run.may_write,
    tags: run.tags ?? [],
    cluster: run.placement_decision?.by === 'auto' ? AUTO : (run.cluster ?? OWN),
    image: run.image ?? '',
    accelerator: run.accelerator ?? '',
    nodes: run.nodes ?? 1,
    launcher: run.launcher ?? 'plain',
    start: run.start ? { when: run.start.when, percent: run.start.percent ?? undefined } : { when: 'auto' },
  };
}
