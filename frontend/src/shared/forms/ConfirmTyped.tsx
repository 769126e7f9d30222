import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

export interface ConfirmTypedProps {
  opened: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  children: ReactNode;
  /** The word to type, usually the name of what goes away for good. */
  word: string;
  confirmLabel: string;
  loading?: boolean;
}

/** Only for what cannot be undone; everything else uses `confirmUndo`. */
export function ConfirmTyped(props: ConfirmTypedProps) {
  const { opened, onClose, onConfirm, title, children, word, confirmLabel, loading = false } = props;
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  // However it was closed: the next thing is confirmed by a word of its own.
  useEffect(() => {
    if (!opened) setTyped('');
  }, [opened]);
  const confirm = (event: FormEvent) => {
    event.preventDefault();
    if (typed === word && !loading) onConfirm();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack component="form" onSubmit={confirm}>
        <Text size="sm" component="div">
          {children}
        </Text>
        <TextInput
          label={t('common.typeToConfirm', { word })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" color="red" disabled={typed !== word} loading={loading}>
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
