import { Button, Card, Group, Modal, Textarea, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconGavel } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Hold } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFocusBack } from '@/shared/ui/focusBack';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { personName } from '../names';
import { useHolds, usePlaceHold, useReleaseHold } from './queries';

export function Holds({ dataset }: { dataset: string }) {
  const { t } = useTranslation();
  const may = useMay('admin');
  const holds = useHolds(dataset);
  const columns = useColumns(dataset, may);
  const [placing, setPlacing] = useState(false);
  const place = may && (
    <Button
      data-focus-as="hold"
      variant="default"
      leftSection={<IconGavel size={15} />}
      onClick={() => setPlacing(true)}
    >
      {t('datasets.holdPlace')}
    </Button>
  );
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('datasets.holds')}
        </Title>
        {place}
      </Group>
      <Card p={0}>
        <DataTable
          {...holds}
          label={t('datasets.holds')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconGavel} title={t('datasets.holdsEmpty')} />}
        />
      </Card>
      {placing && <PlaceHold dataset={dataset} onClose={() => setPlacing(false)} />}
    </>
  );
}

function useColumns(dataset: string, may: boolean): Column<Hold>[] {
  const { t } = useTranslation();
  return useMemo<Column<Hold>[]>(
    () => [
      { key: 'ref', header: t('datasets.holdWhat'), cell: ({ ref }) => ref ?? t('datasets.holdAll') },
      { key: 'reason', header: t('datasets.holdReason'), cell: ({ reason }) => reason },
      { key: 'by', header: t('datasets.holdBy'), from: 'md', cell: ({ placed_by }) => personName(placed_by) },
      { key: 'since', header: t('datasets.holdSince'), cell: ({ created_at }) => <RelativeTime at={created_at} /> },
      {
        key: 'until',
        header: t('datasets.holdReleased'),
        cell: (hold) =>
          hold.released_at === null && may ? (
            <Release dataset={dataset} hold={hold} />
          ) : (
            <RelativeTime at={hold.released_at} />
          ),
      },
    ],
    [dataset, may, t],
  );
}

function Release({ dataset, hold }: { dataset: string; hold: Hold }) {
  const { t } = useTranslation();
  const { release, isPending } = useReleaseHold(dataset);
  const end = () =>
    void release(hold.id)
      .then(() => notifySuccess(t('datasets.holdReleasedDone')))
      .catch(notifyError);
  return (
    <Button
      data-focus-as="hold"
      size="compact-xs"
      variant="light"
      loading={isPending}
      aria-label={t('datasets.holdReleaseName', { what: hold.ref ?? t('datasets.holdAll') })}
      onClick={end}
    >
      {t('datasets.holdRelease')}
    </Button>
  );
}

function PlaceHold({ dataset, onClose }: { dataset: string; onClose: () => void }) {
  const { t } = useTranslation();
  useFocusBack();
  const { place } = usePlaceHold(dataset);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { reason: '', ref: '' },
    validate: { reason: (value) => (value.trim() ? null : t('datasets.holdReasonNeeded')) },
  });
  const send = async ({ reason, ref }: { reason: string; ref: string }) => {
    await place({ reason, ref: ref.trim() || null });
    notifySuccess(t('datasets.holdPlaced'));
    onClose();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('datasets.holdPlace')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <FormFrame form={form} send={send} submit={t('datasets.holdPlace')} onCancel={onClose}>
        <Textarea
          label={t('datasets.holdReason')}
          data-autofocus
          rows={3}
          maxLength={2000}
          key={form.key('reason')}
          {...form.getInputProps('reason')}
        />
        <TextInput
          label={t('datasets.version')}
          description={t('datasets.holdRefHint')}
          key={form.key('ref')}
          {...form.getInputProps('ref')}
        />
      </FormFrame>
    </Modal>
  );
}
