import type { Parameter, Resources, Run, RunInput, RunRequest, Selector, Workflow } from '@/api/contract/jobs';
import type { LauncherEnum, RunStart } from '@/api/schema';
import { AUTO, OWN } from '../places/placeWords';
import { mayLeave } from './draftPlace';
import { linesOfParameters, parametersOfLines } from './parameterLines';
import { joinWords, splitWords } from './shellWords';

export const STEPS = ['workflow', 'parameters', 'resources', 'review'] as const;
export type Step = (typeof STEPS)[number];

/** The workflow of a run that is any command. */
export const COMMAND = 'command';
export const GIB = 1024 ** 3;

export type Launcher = LauncherEnum;
/** `auto` is Atom's own choice; the percentage is that of `share`. */
export interface StartChoice {
  when: 'auto' | RunStart['when'];
  percent?: Typed;
}

export type Delivery = RunInput['delivery'];

/** The part of a version that a run sees: what matches, of a saved view; both may be left out. */
export interface Selection {
  where?: string;
  view?: string;
}

export interface DatasetRow extends Selection {
  alias: string;
  dataset: string;
  ref: string;
  /** Selectors of a copied run that the form has no field for. */
  selected?: Pick<Selector, 'split' | 'labelled'>;
}

export interface EnvRow {
  name: string;
  value: string;
  /** A copied run had a value here, which is shown to nobody. */
  isUnknown?: true;
}

/** A commit that is to be fetched; `fetch` is the id of the request, once it was sent. */
export interface GitSource {
  url: string;
  ref: string;
  secret: string;
  fetch: string;
}

/** The content of a number field: text where it is no number. */
export type Typed = number | string;

/** The content of the form; kept in sessionStorage as it is. */
export interface Draft {
  /** A workflow's slug, COMMAND, or null before the choice. */
  workflow: string | null;
  name: string;
  parameters: Record<string, unknown>;
  /** By the name of a dataset parameter. */
  selections: Record<string, Selection>;
  command: string;
  /** The parameters of a command, one NAME=VALUE a line. */
  parameterLines: string;
  codeSnapshot: string;
  /** Where the code comes from, if that is git. */
  git: GitSource | null;
  /** Whether a snapshot is chosen though none is named yet. */
  wantsSnapshot: boolean;
  requirements: string;
  datasets: DatasetRow[];
  /** How the data of an alias gets there, where it is not as packs. */
  deliveries: Record<string, Delivery>;
  env: EnvRow[];
  /** Names of the project's secrets. */
  secrets: string[];
  cpus: Typed;
  memoryGib: Typed;
  gpus: Typed;
  timeoutMinutes: Typed | null;
  maxRetries: Typed;
  /** Whether a command may write the datasets of the project. */
  mayWrite: boolean;
  tags: string[];
  /** A registered cluster, OWN or AUTO; empty until a person chooses. */
  cluster: string;
  /** The image that the cluster starts. */
  image: string;
  /** The kind of its GPUs; empty for any. */
  accelerator: string;
  /** How many nodes run the command together, each with these resources; a draft of an older page has none. */
  nodes?: Typed;
  /** How several nodes start it. */
  launcher?: Launcher;
  /** When it starts relative to its data. */
  start?: StartChoice;
}

export const EMPTY_DRAFT: Draft = {
  workflow: null,
  name: '',
  parameters: {},
  selections: {},
  command: '',
  parameterLines: '',
  codeSnapshot: '',
  git: null,
  wantsSnapshot: false,
  requirements: '',
  datasets: [],
  deliveries: {},
  env: [],
  secrets: [],
  cpus: 1,
  memoryGib: 2,
  gpus: 0,
  timeoutMinutes: null,
  maxRetries: 0,
  mayWrite: false,
  tags: [],
  cluster: '',
  image: '',
  accelerator: '',
  nodes: 1,
  launcher: 'plain',
  start: { when: 'auto' },
};

export type DraftAction =
  | { type: 'choose'; workflow: Workflow | null }
  | { type: 'set'; values: Partial<Draft> }
  | { type: 'parameter'; name: string; value: unknown }
  | { type: 'selection'; name: string; selection: Selection }
  | { type: 'load'; draft: Draft };

const resourceFields = (resources: Resources | undefined) => ({
  cpus: resources?.cpus ?? EMPTY_DRAFT.cpus,
  // Not rounded: a run that is copied asks for what it had, to the byte.
  memoryGib: resources?.memory_bytes ? resources.memory_bytes / GIB : EMPTY_DRAFT.memoryGib,
  gpus: resources?.gpus ?? 0,
});

export function defaultsOf(parameters: readonly Parameter[]): Record<string, unknown> {
  const given = parameters.filter((parameter) => parameter.default !== undefined && parameter.default !== null);
  return Object.fromEntries(given.map((parameter) => [parameter.name, parameter.default]));
}

/** Whether a person may take a part of what the workflow reads: it says so itself. */
export function isNarrowable(workflow: Workflow, parameter: string): boolean {
  const input = workflow.inputs[parameter] as { narrowable?: boolean } | undefined;
  return input?.narrowable === true;
}

/** Another workflow keeps the values whose names it shares: a dataset chosen once stays chosen. */
function choose(draft: Draft, workflow: Workflow | null): Draft {
  if (workflow === null) return { ...draft, workflow: COMMAND };
  const names = new Set(workflow.parameters.map((parameter) => parameter.name));
  const kept = Object.fromEntries(Object.entries(draft.parameters).filter(([name]) => names.has(name)));
  const parameters = { ...defaultsOf(workflow.parameters), ...kept };
  const selections = Object.fromEntries(
    Object.entries(draft.selections).filter(([name]) => names.has(name) && isNarrowable(workflow, name)),
  );
  // The same workflow chosen again: its resources may have been changed since.
  const resources = draft.workflow === workflow.slug ? {} : resourceFields(workflow.resources);
  return { ...draft, ...resources, workflow: workflow.slug, parameters, selections };
}

const datasetOf = (value: unknown): string => String(value ?? '').split('@')[0] ?? '';

/** A view is one of its dataset's: another dataset leaves it behind. */
function withParameter(draft: Draft, name: string, value: unknown): Draft {
  const parameters = { ...draft.parameters, [name]: value };
  const { view, ...rest } = draft.selections[name] ?? {};
  if (!view || datasetOf(value) === datasetOf(draft.parameters[name])) return { ...draft, parameters };
  return { ...draft, parameters, selections: { ...draft.selections, [name]: rest } };
}

export function draftReducer(draft: Draft, action: DraftAction): Draft {
  switch (action.type) {
    case 'choose':
      return choose(draft, action.workflow);
    case 'set':
      return { ...draft, ...action.values };
    case 'parameter':
      return withParameter(draft, action.name, action.value);
    case 'selection':
      return { ...draft, selections: { ...draft.selections, [action.name]: action.selection } };
    case 'load':
      return action.draft;
  }
}

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

/** The number fields of the resources, as the server names them. */
export function numbersOf(draft: Draft): Record<string, Typed | null> {
  return {
    'resources.cpus': draft.cpus,
    'resources.memory_bytes': draft.memoryGib,
    'resources.gpus': draft.gpus,
    nodes: nodesOf(draft),
    timeout_s: draft.timeoutMinutes,
    max_retries: draft.maxRetries,
    ...(draft.start?.when === 'share' && { 'start.percent': draft.start.percent ?? '' }),
  };
}

/** The content of the field of nodes. */
export const nodesOf = (draft: Draft): Typed => draft.nodes ?? 1;

export type DraftError = 'openQuote' | 'notFetched' | 'notANumber' | 'notNamed' | 'valueUnknown';

/** The errors of the draft itself, so that no request has them; fields as the server names them. */
export function draftErrors(draft: Draft): { field: string; error: DraftError }[] {
  // Without this the server's default would hold, or no limit at all.
  const numbers = Object.entries(numbersOf(draft))
    .filter(([, value]) => value !== null && value !== '' && amountOf(value) === undefined)
    .map(([field]) => ({ field, error: 'notANumber' as const }));
  // Sent as it is, an empty value would take the place of the one that the copied run has.
  const unknown = draft.env
    .filter(({ name, isUnknown }) => isUnknown && name.trim() !== '')
    .map(({ name }) => ({ field: `env.${name}`, error: 'valueUnknown' as const }));
  if (draft.workflow !== COMMAND) return [...numbers, ...unknown];
  return [
    ...numbers,
    ...unknown,
    ...(parametersOfLines(draft.parameterLines) === null ? [{ field: 'parameters', error: 'notNamed' as const }] : []),
    ...(splitWords(draft.command) === null ? [{ field: 'command', error: 'openQuote' as const }] : []),
    // Without this the run would start without any code.
    ...(draft.git && !draft.codeSnapshot ? [{ field: 'code_snapshot', error: 'notFetched' as const }] : []),
  ];
}

/** The names under which a run of the draft reads datasets, as far as they are chosen. */
export function inputsOf(draft: Draft, workflow: Workflow | undefined): string[] {
  if (draft.workflow === COMMAND)
    return draft.datasets.filter((row) => row.dataset && row.ref).map((row) => row.alias || row.dataset);
  const named = workflow?.parameters.filter((one) => one.type === 'dataset' && draft.parameters[one.name]) ?? [];
  return named.map((one) => one.name);
}

/** The variable with the folder of an input, as the server names it. */
export const variableOf = (alias: string): string => `ATOM_INPUT_${alias.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** Choices for inputs that the draft has no longer are not sent; packs are the server's default. */
function chosenDeliveries(draft: Draft): Record<string, Delivery> {
  const isInput = (alias: string) =>
    draft.workflow === COMMAND
      ? draft.datasets.some((row) => row.dataset && row.ref && (row.alias || row.dataset) === alias)
      : Boolean(draft.parameters[alias]);
  const entries = Object.entries(draft.deliveries ?? {});
  return Object.fromEntries(entries.filter(([alias, how]) => how !== 'packs' && isInput(alias)));
}

/** Undefined where nothing, or no number, was typed. */
function amountOf(typed: Typed | null): number | undefined {
  const amount = typed === null || typed === '' ? Number.NaN : Number(typed);
  return Number.isFinite(amount) ? amount : undefined;
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

/** The parameter that names the split of an input, by the input: a choice of the version's own splits. */
export function splitParameters(workflow: Workflow): Record<string, string> {
  const named = Object.entries(workflow.inputs).flatMap(([alias, input]) => {
    const split = (input as { split?: unknown }).split;
    const parameter = typeof split === 'object' && split !== null && 'parameter' in split ? split.parameter : undefined;
    return typeof parameter === 'string' ? [[parameter, alias]] : [];
  });
  return Object.fromEntries(named);
}

/** The part of a request that decides which data a run reads: other parameters change nothing of the look at it. */
export function dataRequestOf(request: RunRequest, workflow: Workflow | undefined): RunRequest {
  const { datasets, selectors } = request;
  const common = { ...(selectors && { selectors }), ...(datasets && { datasets }) };
  if (!request.workflow) return { command: ['true'], ...common };
  const splits = workflow ? splitParameters(workflow) : {};
  const names = workflow?.parameters.filter(
    ({ type, name }) => type === 'dataset' || type === 'model' || name in splits,
  );
  const values = (names ?? []).flatMap(({ name }) => {
    const value = request.parameters?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { workflow: request.workflow, parameters: Object.fromEntries(values), ...common };
}

const RESOURCE_FIELDS =
  /^(resources|accelerator|nodes$|launcher$|start($|\.)|cluster|image|cpus|memory_bytes|gpus|timeout_s|max_retries|may_write|datasets($|\.)|deliveries|env|secrets|tags)/;

/** The server's name of a workflow's parameter; a parameter may be called as a field of the run is. */
export const parameterField = (name: string): string => `parameters.${name}`;

/** Which step shows the message about a field, as the server names it. */
export function stepOfField(field: string, draft: Draft): Step {
  if (field === 'workflow') return 'workflow';
  if (draft.workflow === COMMAND && field.startsWith('datasets')) return 'parameters';
  return RESOURCE_FIELDS.test(field) ? 'resources' : 'parameters';
}

/** Messages by field, several sentences joined. */
export function fieldErrors(errors: Record<string, string[] | string> | undefined): Record<string, string> {
  const entries = Object.entries(errors ?? {});
  return Object.fromEntries(entries.map(([field, words]) => [field, Array.isArray(words) ? words.join(' ') : words]));
}
