import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';

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

/** Shows the page as a report also for the browser's own command; drawn at once, since it does not wait. */
export function listenForPrint(): void {
  window.addEventListener('beforeprint', () => flushSync(() => setPrinting(true)));
  window.addEventListener('afterprint', () => setPrinting(false));
}

export const usePrinting = (): boolean => useSyncExternalStore(subscribe, isPrinting);
