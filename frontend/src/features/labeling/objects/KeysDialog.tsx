import { Alert, Button, Group, Kbd, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import {
  COMMANDS,
  type CommandName,
  DEFAULT_KEYS,
  holderOfKey,
  isOfBrowser,
  type Keymap,
  nameOfPress,
  shownKey,
} from './keymap';
import type { OntologyLabel } from './types';

interface KeysDialogProps {
  keymap: Keymap;
  labels: readonly OntologyLabel[];
  onChange: (keymap: Keymap) => void;
  onClose: () => void;
}

const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'Meta', 'CapsLock', 'Dead', 'Process']);

/** The keys of the workspace, which each person may change. */
export function KeysDialog({ keymap, labels, onChange, onClose }: KeysDialogProps) {
  const { t } = useTranslation();
  const [changing, setChanging] = useState<CommandName | null>(null);
  const [taken, setTaken] = useState<string | null>(null);
  useEffect(() => {
    if (!changing) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.isComposing || MODIFIERS.has(event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === 'Escape') {
        setChanging(null);
        return;
      }
      const key = nameOfPress(event);
      if (isOfBrowser(key)) {
        setTaken(t('labeling.objects.keyOfBrowser', { key: shownKey(key) }));
        return;
      }
      const holder = holderOfKey(key, changing, keymap, labels);
      if (holder) {
        const name = 'command' in holder ? t(`labeling.objects.command.${holder.command}`) : holder.label;
        setTaken(t('labeling.objects.keyTaken', { key: shownKey(key), name }));
        return;
      }
      setTaken(null);
      setChanging(null);
      onChange({ ...keymap, [changing]: key });
    };
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [changing, keymap, labels, onChange, t]);
  return (
    <Dialog opened onClose={onClose} title={t('labeling.objects.keys')}>
      <Stack gap={4}>
        <Text size="xs" c="dimmed">
          {t('labeling.objects.keysHint')}
        </Text>
        {taken && (
          <Alert color="orange" variant="light" py={6} role="alert">
            {taken}
          </Alert>
        )}
        {COMMANDS.map((command) => (
          <Group key={command} justify="space-between" wrap="nowrap">
            <Text size="sm">{t(`labeling.objects.command.${command}`)}</Text>
            <Button
              size="compact-sm"
              variant={changing === command ? 'filled' : 'default'}
              aria-label={t('labeling.objects.changeKey', {
                name: t(`labeling.objects.command.${command}`),
                key: shownKey(keymap[command]),
              })}
              onClick={() => {
                setTaken(null);
                setChanging(command);
              }}
            >
              {changing === command ? t('labeling.objects.pressKey') : <Kbd size="xs">{shownKey(keymap[command])}</Kbd>}
            </Button>
          </Group>
        ))}
        <Group justify="flex-end" mt="sm">
          <Button variant="default" onClick={() => onChange({ ...DEFAULT_KEYS })}>
            {t('labeling.objects.firstKeys')}
          </Button>
          <Button onClick={onClose}>{t('common.close')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
