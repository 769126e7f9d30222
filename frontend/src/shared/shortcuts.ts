import { useEffect, useRef, useSyncExternalStore } from 'react';

/** One keyboard shortcut. `keys`: `?`, `mod+K`, or a sequence such as `G D`; letters without regard to case. */
export interface Shortcut {
  keys: string;
  label: string;
  run: () => void;
  /** Where the `?` sheet lists it: everywhere (the shell's) or on this page (a feature's). */
  scope?: 'everywhere' | 'page';
  /** Works while typing in a field too (only for `mod+…`). */
  inFields?: boolean;
}

const SEQUENCE_MS = 1200;
const registered = new Set<readonly Shortcut[]>();
const listeners = new Set<() => void>();
let snapshot: readonly Shortcut[] = [];
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

function refresh(): void {
  snapshot = [...registered].flat();
  for (const listener of listeners) listener();
}

/** `mod+K`, `?`, `ArrowLeft` or `G`, as shortcuts name it. */
export function keyName(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key;
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]),textarea,select'));

const isInDialog = () => document.querySelector('[role=dialog][aria-modal=true]') !== null;

function onKeyDown(event: KeyboardEvent): void {
  // An IME composing Chinese text sends key events of its own.
  if (event.defaultPrevented || event.altKey || event.isComposing || event.key === 'Shift') return;
  const name = keyName(event);
  const typing = isField(event.target);
  const wanted = prefix ? `${prefix} ${name}` : name;
  clearTimeout(prefixTimer);
  prefix = '';
  const usable = snapshot.filter((shortcut) => (!typing || shortcut.inFields) && (shortcut.inFields || !isInDialog()));
  // The latest registration wins: a page may take a key from the shell.
  const match = usable.findLast((shortcut) => shortcut.keys.toUpperCase() === wanted.toUpperCase());
  if (match) {
    event.preventDefault();
    match.run();
    return;
  }
  if (!usable.some((shortcut) => shortcut.keys.toUpperCase().startsWith(`${wanted.toUpperCase()} `))) return;
  prefix = wanted;
  prefixTimer = setTimeout(() => {
    prefix = '';
  }, SEQUENCE_MS);
}

/** Starts listening; returns how to stop. The shell calls it once. */
export function listenForShortcuts(): () => void {
  window.addEventListener('keydown', onKeyDown);
  return () => window.removeEventListener('keydown', onKeyDown);
}

/** Registers shortcuts while the component is mounted. The functions may change at every render. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const signature = shortcuts.map(({ keys, label }) => `${keys}\u0000${label}`).join('\u0001');
  // biome-ignore lint/correctness/useExhaustiveDependencies: keys and labels are the signature; `run` is read late
  useEffect(() => {
    const bound = latest.current.map((shortcut, index) => ({
      ...shortcut,
      run: () => latest.current[index]?.run(),
    }));
    registered.add(bound);
    refresh();
    return () => {
      registered.delete(bound);
      refresh();
    };
  }, [signature]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const useRegisteredShortcuts = () => useSyncExternalStore(subscribe, () => snapshot);
