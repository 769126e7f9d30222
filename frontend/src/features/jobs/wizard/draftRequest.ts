import type { RunRequest, Selector, Workflow } from '@/api/contract/jobs';
import { COMMAND, type Delivery, type Draft, GIB, type Typed } from './draft';
import { mayLeave } from './draftPlace';
import { parametersOfLines } from './parameterLines';
import { splitWords } from './shellWords';

/** Undefined where nothing, or no number, was typed. */
export function amountOf(typed: Typed | null): number | undefined {
  const amount = typed === null || typed === '' ? Number.NaN : Number(typed);
  return Number.isFinite(amount) ? amount : undefined;
}

/** The content of the field of nodes. */
export const nodesOf = (draft: Draft): Typed => draft.nodes ?? 1;

/** The names under which a run of the draft reads datasets, as far as they are chosen. */
export function inputsOf(draft: Draft, workflow: Workflow | undefined): string[] {
  if (draft.workflow === COMMAND)
    return draft.datasets.filter((row) => row.dataset && row.ref).map((row) => row.alias || row.dataset);
  const named = workflow?.parameters.filter((one) => one.type === 'dataset' && draft.parameters[one.name]) ?? [];
  return named.map((one) => one.name);
}

/** The variable with the folder of an input, as the server names it. */
export const variableOf = (alias: string): string => `ATOM_INPUT_${alias.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** Selectors by alias; without those that select nothing. */
function selectorsOf(chosen: readonly (readonly [string, Selector])[]): Partial<RunRequest> {
  const selectors = chosen.flatMap(([alias, { where, view, split, labelled }]) => {
    const selector = {
      ...(where?.trim() && { where: where.trim() }),
      ...(view && { view }),
      ...(split && { split }),
      ...(labelled && { labelled }),
    };
    return Object.keys(selector).length > 0 ? [[alias, selector] as const] : [];
  });
  return selectors.length > 0 ? { selectors: Object.fromEntries(selectors) } : {};
}

function commandFields(draft: Draft): Partial<RunRequest> {
  const parameters = parametersOfLines(draft.parameterLines) ?? {};
  const datasets = draft.datasets.filter((row) => row.dataset && row.ref);
  return {
    command: splitWords(draft.command) ?? [],
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(draft.codeSnapshot && { code_snapshot: draft.codeSnapshot }),
    ...(draft.requirements.trim() && { requirements: draft.requirements }),
    ...(datasets.length > 0 && {
      datasets: Object.fromEntries(datasets.map((row) => [row.alias || row.dataset, `${row.dataset}@${row.ref}`])),
    }),
    ...(draft.mayWrite && { may_write: true }),
    ...selectorsOf(
      datasets.map(({ alias, dataset, where, view, selected }) => [alias || dataset, { where, view, ...selected }]),
    ),
  };
}

/** Choices for inputs that the draft has no longer are not sent; packs are the server's default. */
function chosenDeliveries(draft: Draft): Record<string, Delivery> {
  const isInput = (alias: string) =>
    draft.workflow === COMMAND
      ? draft.datasets.some((row) => row.dataset && row.ref && (row.alias || row.dataset) === alias)
      : Boolean(draft.parameters[alias]);
  const entries = Object.entries(draft.deliveries ?? {});
  return Object.fromEntries(entries.filter(([alias, how]) => how !== 'packs' && isInput(alias)));
}

export function resourcesOf(draft: Draft): RunRequest['resources'] {
  const [cpus, memoryGib, gpus] = [draft.cpus, draft.memoryGib, draft.gpus].map(amountOf);
  return {
    ...(cpus !== undefined && { cpus }),
    ...(memoryGib !== undefined && { memory_bytes: Math.round(memoryGib * GIB) }),
    ...(gpus !== undefined && { gpus }),
  };
}

function startOf({ start }: Draft): Pick<RunRequest, 'start'> {
  if (!start || start.when === 'auto') return {};
  if (start.when !== 'share') return { start: { when: start.when } };
  const percent = amountOf(start.percent ?? null);
  return { start: { when: 'share', ...(percent !== undefined && { percent }) } };
}

/** The body for `runs/preview/` and `runs/`; empty fields are left out, so that the server's defaults hold. */
export function requestOf(draft: Draft): RunRequest {
  const env = draft.env.filter((row) => row.name.trim() !== '');
  const parameters = Object.entries(draft.parameters).filter(([, value]) => value !== '' && value != null);
  const deliveries = chosenDeliveries(draft);
  const isElsewhere = mayLeave(draft);
  const [timeoutMinutes, maxRetries = 0, nodes = 1] = [draft.timeoutMinutes, draft.maxRetries, nodesOf(draft)].map(
    amountOf,
  );
  return {
    ...(draft.name.trim() && { name: draft.name.trim() }),
    ...(draft.workflow === COMMAND
      ? commandFields(draft)
      : {
          workflow: draft.workflow ?? undefined,
          parameters: Object.fromEntries(parameters),
          ...selectorsOf(Object.entries(draft.selections).filter(([name]) => draft.parameters[name])),
        }),
    resources: resourcesOf(draft),
    // Without GPUs the field of their kind is not shown.
    ...(draft.accelerator && Number(draft.gpus) > 0 && { accelerator: draft.accelerator }),
    // One node has no launcher: the choice stays in the draft for when there are more.
    ...(nodes !== 1 && { nodes }),
    ...(nodes > 1 && draft.launcher && draft.launcher !== 'plain' && { launcher: draft.launcher }),
    ...startOf(draft),
    ...(isElsewhere && { cluster: draft.cluster }),
    ...(isElsewhere && draft.image?.trim() && { image: draft.image.trim() }),
    ...(Object.keys(deliveries).length > 0 && { deliveries }),
    ...(env.length > 0 && { env: Object.fromEntries(env.map((row) => [row.name.trim(), row.value])) }),
    ...(draft.secrets.length > 0 && { secrets: draft.secrets }),
    ...(timeoutMinutes !== undefined && { timeout_s: Math.round(timeoutMinutes * 60) }),
    ...(maxRetries !== 0 && { max_retries: maxRetries }),
    ...(draft.tags.length > 0 && { tags: draft.tags }),
  };
}
