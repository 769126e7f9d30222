import { useSyncExternalStore } from 'react';

/** Whether the page shows itself as a report: everything at once, on white, without controls. */
let printing = false;
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
const isPrinting = () => printing;

export function setPrinting(next: boolean): void {
  if (next === printing) return;
  printing = next;
  if (next) document.documentElement.dataset.printing = 'true';
  else delete document.documentElement.dataset.printing;
  for (const listener of [...listeners]) listener();
}

export const usePrinting = (): boolean => useSyncExternalStore(subscribe, isPrinting);
