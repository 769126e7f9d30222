import type { TFunction } from 'i18next';
import type { Workflow } from '@/api/contract/jobs';
import { parameterField } from './draftErrors';

/** The form's own words for a field that the server names; a field that the form does not have keeps its name. */
export function labelOfField(field: string, workflow: Workflow | undefined, t: TFunction): string {
  const parameter = workflow?.parameters.find((one) => parameterField(one.name) === field);
  if (parameter) return parameter.title || parameter.name;
  const labels: Record<string, string> = {
    workflow: t('wizard.step.workflow'),
    command: t('wizard.command'),
    code_snapshot: t('wizard.code'),
    requirements: t('wizard.requirements'),
    resources: t('jobs.config.resources'),
    'resources.cpus': t('jobs.cpus'),
    'resources.memory_bytes': t('jobs.memory'),
    'resources.gpus': t('jobs.gpus'),
    accelerator: t('wizard.accelerator'),
    nodes: t('wizard.nodes'),
    launcher: t('wizard.launcher'),
    start: t('startWhen.title'),
    'start.percent': t('startWhen.percent'),
    name: t('wizard.name'),
    timeout_s: t('jobs.timeout'),
    max_retries: t('jobs.maxRetries'),
    may_write: t('jobs.mayWrite'),
    tags: t('wizard.tags'),
    secrets: t('secrets.inRun'),
  };
  const [group, ...rest] = field.split('.');
  if (group === 'secrets') return [t('secrets.inRun'), ...rest].join(' ');
  if (group === 'deliveries') return t('wizard.deliveryOf', { input: rest.join('.') });
  if (group === 'datasets') return [t('wizard.dataset'), ...rest].join(' ');
  if (group === 'selectors') return [t('wizard.part'), ...rest.slice(0, 1)].join(' ');
  return labels[field] ?? field;
}
