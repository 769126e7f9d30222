import type { RunEvent } from '@/api/contract/jobs';

/** Groups events, newest first, so that those of one kind and attempt that follow each other are together. */
export function foldEvents(events: readonly RunEvent[]): RunEvent[][] {
  const folds: RunEvent[][] = [];
  for (const event of events) {
    const last = folds.at(-1);
    const before = last?.[0];
    if (before?.kind === event.kind && before.attempt === event.attempt) last?.push(event);
    else folds.push([event]);
  }
  return folds;
}
