import type { Workflow } from '@/api/contract/jobs';

/** The workflow in the reader's language, as far as its author has translated it. */
export function localise(workflow: Workflow, language: string): Workflow {
  const words = workflow.translations?.[language];
  if (!words) return workflow;
  return {
    ...workflow,
    title: words.title ?? workflow.title,
    description: words.description ?? workflow.description,
    parameters: workflow.parameters.map((parameter) => ({ ...parameter, ...words.parameters?.[parameter.name] })),
  };
}
