import type { Icon } from '@tabler/icons-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';

/** An action in the Ctrl+K palette. */
export interface Command {
  id: string;
  label: string;
  description?: string;
  icon?: Icon;
  run: () => void;
}

const registered = new Set<readonly Command[]>();
const listeners = new Set<() => void>();
let snapshot: readonly Command[] = [];

function refresh(): void {
  snapshot = [...registered].flat();
  for (const listener of listeners) listener();
}

/** Offers the page's actions in the palette while the component is mounted. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  const signature = commands
    .map(({ id, label, description }) => [id, label, description].join('\u0000'))
    .join('\u0001');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the signature stands for the commands; `run` is read late
  useEffect(() => {
    const bound = latest.current.map((command, index) => ({ ...command, run: () => latest.current[index]?.run() }));
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

export const useRegisteredCommands = () => useSyncExternalStore(subscribe, () => snapshot);
