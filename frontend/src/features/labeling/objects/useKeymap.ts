import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/shared/domain/me';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useStored } from '@/shared/ui/stored';
import { COMMANDS, type Keymap, keymapOf, storedKeymap } from './keymap';
import type { OntologyLabel } from './types';

/** A person's keys, kept in this browser. */
export function useKeymap(): [Keymap, (keymap: Keymap) => void] {
  const [stored, setStored] = useStored(`atom-object-keys/${useMe()?.id ?? ''}`, '');
  const keymap = useMemo(() => keymapOf(stored), [stored]);
  return [keymap, (next) => setStored(storedKeymap(next))];
}

const nothing = () => {};

/** The `?` sheet lists the keys; the workspace acts on them itself. */
export function useKeySheet(keymap: Keymap, labels: readonly OntologyLabel[]): void {
  const { t } = useTranslation();
  useShortcuts([
    ...labels.flatMap(({ hotkey, name }) => (hotkey ? [{ keys: hotkey, label: name, run: nothing }] : [])),
    ...COMMANDS.map((command) => ({
      keys: keymap[command],
      label: t(`labeling.objects.command.${command}`),
      run: nothing,
    })),
  ]);
}
