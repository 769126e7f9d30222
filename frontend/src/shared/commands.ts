import type { Icon } from '@tabler/icons-react';
import { createRegistry } from './registry';

/** An action in the Ctrl+K palette. */
export interface Command {
  id: string;
  label: string;
  description?: string;
  icon?: Icon;
  run: () => void;
}

const registry = createRegistry<Command>(({ id, label, description }) => [id, label, description].join('\u0000'));

/** Offers the page's actions in the palette while the component is mounted. */
export const useCommands = registry.useRegister;
export const useRegisteredCommands = registry.useRegistered;
