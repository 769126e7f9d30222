import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Machine } from '@/api/schema';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useCordon } from './queries';

const MAX_REASON = 200;

interface CordonDialogProps {
  machine: Machine;
  opened: boolean;
  onClose: () => void;
}

/** Asks why a machine shall take no new runs. */
export function CordonDialog({ machine, opened, onClose }: CordonDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} size="md" title={t('machines.cordonTitle', { name: machine.name })}>
      <Form machine={machine} onClose={onClose} />
    </Dialog>
  );
}

function Form({ machine, onClose }: Omit<CordonDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const { cordon, error, isPending } = useCordon();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The form shows the failure.
    cordon(machine.id, reason.trim()).then(onClose, () => {});
  };
  const count = machine.runs.length + machine.elsewhere.runs;
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <Text size="sm">{t('machines.cordonHint', { count })}</Text>
        <TextInput
          label={t('machines.reason')}
          description={t('machines.reasonHint')}
          value={reason}
          maxLength={MAX_REASON}
          required
          data-autofocus
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {error != null && <ErrorState error={error} compact />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={isPending} disabled={!reason.trim()}>
            {t('machines.cordonDo')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
