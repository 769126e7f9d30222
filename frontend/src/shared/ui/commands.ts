import type { Icon } from '@tabler/icons-react';
import { createRegistry } from '../domain/registry';

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

/** The first entry of the menu that has just opened takes the focus: Mantine moves it only where a menu is made anew. */
function focusFirstEntry(): void {
  setTimeout(() => {
    const entries = [...document.querySelectorAll<HTMLElement>('[role=menu] [role=menuitem]:not(:disabled)')];
    entries.find((entry) => entry.checkVisibility?.() ?? true)?.focus();
  }, 20);
}

/** For the menu of a page's header: kept beside the page while it is closed, its entries are in the palette too. */
export const IN_PALETTE = { keepMounted: true, keepMountedMode: 'display-none', onOpen: focusFirstEntry } as const;
