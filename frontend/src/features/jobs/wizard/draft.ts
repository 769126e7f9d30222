import type { Resources, RunInput, Selector, Workflow } from '@/api/contract/jobs';
import type { LauncherEnum, RunStart } from '@/api/schema';
import { defaultsOf, isNarrowable } from './workflowData';

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

export const resourceFields = (resources: Resources | undefined) => ({
  cpus: resources?.cpus ?? EMPTY_DRAFT.cpus,
  // Not rounded: a run that is copied asks for what it had, to the byte.
  memoryGib: resources?.memory_bytes ? resources.memory_bytes / GIB : EMPTY_DRAFT.memoryGib,
  gpus: resources?.gpus ?? 0,
});

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
