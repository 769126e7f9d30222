import type { Parameter, RunRequest, Workflow } from '@/api/contract/jobs';

export function defaultsOf(parameters: readonly Parameter[]): Record<string, unknown> {
  const given = parameters.filter((parameter) => parameter.default !== undefined && parameter.default !== null);
  return Object.fromEntries(given.map((parameter) => [parameter.name, parameter.default]));
}

/** Whether a person may take a part of what the workflow reads: it says so itself. */
export function isNarrowable(workflow: Workflow, parameter: string): boolean {
  const input = workflow.inputs[parameter] as { narrowable?: boolean } | undefined;
  return input?.narrowable === true;
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
