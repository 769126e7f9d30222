import { COMMAND, type Draft, type Step, type Typed } from './draft';
import { amountOf, nodesOf } from './draftRequest';
import { parametersOfLines } from './parameterLines';
import { splitWords } from './shellWords';

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
