import { useEffect, useRef, useSyncExternalStore } from 'react';

interface Runnable {
  run: () => void;
}

/**
 * Offers of the mounted components: shortcuts, commands. `signatureOf` tells two offers apart; their functions may
 * change at every render and are read when they run.
 */
export function createRegistry<T extends Runnable>(signatureOf: (item: T) => string) {
  const registered = new Set<readonly T[]>();
  const listeners = new Set<() => void>();
  let snapshot: readonly T[] = [];

  function refresh(): void {
    snapshot = [...registered].flat();
    for (const listener of listeners) listener();
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Offers `items` while the component is mounted. */
  function useRegister(items: readonly T[]): void {
    const latest = useRef(items);
    latest.current = items;
    const signature = items.map(signatureOf).join('\u0001');
    // biome-ignore lint/correctness/useExhaustiveDependencies: the signature stands for the items; `run` is read late
    useEffect(() => {
      const bound = latest.current.map((item, index) => ({ ...item, run: () => latest.current[index]?.run() }));
      registered.add(bound);
      refresh();
      return () => {
        registered.delete(bound);
        refresh();
      };
    }, [signature]);
  }

  const current = () => snapshot;
  return { current, useRegister, useRegistered: () => useSyncExternalStore(subscribe, current) };
}
