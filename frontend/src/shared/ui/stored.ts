import { useCallback, useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
const notify = () => {
  for (const listener of listeners) listener();
};

/** localStorage throws in private modes and when it is full: a preference is then kept for this page only. */
const memory = new Map<string, string>();

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

export function writeStored(key: string, value: string | null): void {
  if (value === null) memory.delete(key);
  else memory.set(key, value);
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // kept in memory
  }
  notify();
}

function subscribeStored(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

/** A small preference that survives reloads and follows other tabs. */
export function useStored(key: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribeStored, () => readStored(key) ?? fallback);
  return [value, useCallback((next: string) => writeStored(key, next), [key])];
}

/** The tab's own memory where sessionStorage refuses: until the page is left. */
const tabMemory = new Map<string, string>();

/** Values that this tab alone remembers: they survive reloads, and other tabs neither see nor change them. */
export function readOfTab(key: string): string | null {
  try {
    return sessionStorage.getItem(key) ?? tabMemory.get(key) ?? null;
  } catch {
    return tabMemory.get(key) ?? null;
  }
}

export function writeOfTab(key: string, value: string): void {
  try {
    sessionStorage.setItem(key, value);
    tabMemory.delete(key);
  } catch {
    tabMemory.set(key, value);
  }
}
