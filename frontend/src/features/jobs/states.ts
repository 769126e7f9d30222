/** States in which a run changes no more by itself. */
const FINAL = new Set(['succeeded', 'failed', 'cancelled']);
/** States before the user's command has started. */
const WAITING = new Set([
  'created',
  'queued',
  'placing',
  'warming',
  'submitted',
  'admitted',
  'scheduling',
  'pulling',
  'preempted',
  'retry_wait',
]);

export const isActive = (run: { state: string }): boolean => !FINAL.has(run.state);
export const isWaiting = (run: { state: string }): boolean => WAITING.has(run.state);
/** Its program runs elsewhere and only reports: Atom has nothing to start, log or clone. */
export const isTracked = (run: { origin: string }): boolean => run.origin !== 'atom';
/** Its command runs in a registered cluster, which may have doubts about it. */
export const isInCluster = (run: { state: string; cluster: string | null }): boolean =>
  run.state === 'running' && run.cluster !== null;
export const mayCancel = (run: { state: string }): boolean => isActive(run) && run.state !== 'cancelling';
/** In a registered cluster, and not about to end: it can go on in another one. */
export const mayMove = (run: { state: string; cluster: string | null }): boolean =>
  run.cluster !== null && !['succeeded', 'finalizing', 'cancelling'].includes(run.state);
