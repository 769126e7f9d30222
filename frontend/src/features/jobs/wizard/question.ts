import type { PlacementQuestionRequest, RunRequest, Workflow } from '@/api/contract/jobs';

/** The versions that a run would read, by alias. */
function inputsOf(request: RunRequest, workflow: Workflow | undefined): Record<string, string> {
  if (!request.workflow) return request.datasets ?? {};
  const names = workflow?.parameters.filter(({ type }) => type === 'dataset').map(({ name }) => name) ?? [];
  const values = names.map((name) => [name, request.parameters?.[name]] as const);
  return Object.fromEntries(values.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** A run as far as its place asks: the chosen cluster is no part of it, since all of them are compared. */
export function questionOf(request: RunRequest, workflow: Workflow | undefined): PlacementQuestionRequest {
  const { resources, accelerator, nodes, image, command, requirements, start } = request;
  const inputs = inputsOf(request, workflow);
  return {
    ...resources,
    ...(accelerator && { accelerator }),
    ...(nodes && { nodes }),
    ...(image && { image }),
    ...(requirements && { requirements }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(start?.percent && start.percent >= 1 && start.percent <= 99 && { start_percent: start.percent }),
    ...(request.workflow ? { workflow: request.workflow } : command?.length ? { command } : {}),
  };
}
