/** The topics by which people choose how they are told, in the order of the settings. */
export const TOPICS = [
  'run_failed',
  'run_finished',
  'run_waiting',
  'mention',
  'labeling',
  'audit',
  'data_failed',
  'data_finished',
  'membership',
  'webhook',
  'security',
] as const;

export type Topic = (typeof TOPICS)[number];
