import { createRegistry } from '../domain/registry';

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
const registry = createRegistry<Shortcut>(({ keys, label }) => `${keys}\u0000${label}`);
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

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
  const usable = registry
    .current()
    .filter((shortcut) => (!typing || shortcut.inFields) && (shortcut.inFields || !isInDialog()));
  // The latest registration wins: a page may take a key from the shell.
  const match = usable.findLast((shortcut) => shortcut.keys.toUpperCase() === wanted.toUpperCase());
  if (match) {
    event.preventDefault();
    // A key that is held sends what nobody has seen yet: Enter counts once.
    if (!event.repeat || event.key !== 'Enter') match.run();
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

/** Registers shortcuts while the component is mounted. */
export const useShortcuts = registry.useRegister;
export const useRegisteredShortcuts = registry.useRegistered;
