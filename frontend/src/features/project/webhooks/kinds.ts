/** The events that a webhook can ask for, in the server's order; a test compares them with the schema. */
export const EVENT_KINDS = [
  'alias.moved',
  'label_task.published',
  'model_version.registered',
  'run.cancelled',
  'run.failed',
  'run.started',
  'run.succeeded',
  'version.committed',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];
