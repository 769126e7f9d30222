import { Badge, Button, Card, Code, Group, Stack, Text } from '@mantine/core';
import { IconListSearch, IconTrash } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { GarbageRun } from '@/api/contract/datasets';
import { problemSentence } from '@/shared/domain/problemWords';
import { useCurrentProject, useMay, useProject } from '@/shared/domain/project';
import { ConfirmTyped } from '@/shared/forms/ConfirmTyped';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { Bytes, Count } from '@/shared/ui/values';
import { AdministrationHeader } from '../AdministrationHeader';
import { useGarbageRuns, usePardonGarbage, useStartGarbage } from '../queries';

export function GarbagePage() {
  const { t } = useTranslation();
  const project = useCurrentProject();
  const may = useMay('admin');
  if (may) return <Garbage />;
  return (
    <Page>
      <AdministrationHeader tab="garbage" subtitle={t('settings.garbageSubtitle')} />
      {project && <Forbidden hint={t('settings.garbageForbidden')} />}
    </Page>
  );
}

function Garbage() {
  const { t } = useTranslation();
  const runs = useGarbageRuns();
  const columns = useColumns();
  const report = useReport();
  return (
    <Page>
      <AdministrationHeader tab="garbage" subtitle={t('settings.garbageSubtitle')}>
        {report}
        <Collect />
      </AdministrationHeader>
      <Card p={0}>
        <DataTable
          {...runs}
          label={t('settings.garbageTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconTrash} title={t('settings.garbageEmpty')} action={report} />}
        />
      </Card>
    </Page>
  );
}

function useReport() {
  const { t } = useTranslation();
  const { start, isPending } = useStartGarbage();
  const look = () =>
    void start(true)
      .then(() => notifySuccess(t('settings.garbageLooking')))
      .catch(notifyError);
  return (
    <Button
      data-focus-as="garbage-report"
      variant="default"
      leftSection={<IconListSearch size={15} />}
      loading={isPending}
      onClick={look}
    >
      {t('settings.garbageLook')}
    </Button>
  );
}

function Collect() {
  const { t } = useTranslation();
  const project = useProject();
  const [asking, setAsking] = useState(false);
  const { start, isPending } = useStartGarbage();
  const close = () => setAsking(false);
  const collect = () =>
    void start(false)
      .then(() => notifySuccess(t('settings.garbageCollecting')))
      .catch(notifyError)
      .finally(close);
  return (
    <>
      <Button color="red" leftSection={<IconTrash size={15} />} onClick={() => setAsking(true)}>
        {t('settings.garbageCollect')}
      </Button>
      <ConfirmTyped
        opened={asking}
        onClose={close}
        onConfirm={collect}
        title={t('settings.garbageCollectTitle', { project })}
        word={project}
        confirmLabel={t('settings.garbageCollect')}
        loading={isPending}
      >
        {t('settings.garbageCollectHint')}
      </ConfirmTyped>
    </>
  );
}

function useColumns(): Column<GarbageRun>[] {
  const { t } = useTranslation();
  return useMemo<Column<GarbageRun>[]>(
    () => [
      { key: 'at', header: t('settings.at'), width: 130, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
      {
        key: 'kind',
        header: t('settings.garbageKind'),
        cell: ({ is_dry_run }) => (
          <Badge size="sm" color={is_dry_run ? 'gray' : 'orange'}>
            {is_dry_run ? t('settings.garbageReport') : t('settings.garbageCollection')}
          </Badge>
        ),
      },
      { key: 'state', header: t('settings.garbageState'), cell: (run) => <RunState run={run} /> },
      {
        key: 'found',
        header: t('settings.garbageFound'),
        align: 'right',
        cell: ({ garbage_count, garbage_bytes }) => (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            <Count value={garbage_count} /> · <Bytes value={garbage_bytes} />
          </Group>
        ),
      },
      {
        key: 'staged',
        header: t('settings.garbageStaged'),
        align: 'right',
        from: 'md',
        cell: ({ staged_count, staged_bytes }) => (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            <Count value={staged_count} /> · <Bytes value={staged_bytes} />
          </Group>
        ),
      },
      {
        key: 'repacked',
        header: t('settings.garbageRepacked'),
        align: 'right',
        from: 'md',
        cell: ({ repacked_count, repacked_bytes, repacked_needed_bytes }) => (
          <Group gap={6} justify="flex-end" wrap="nowrap" title={t('settings.garbageRepackedHint')}>
            <Count value={repacked_count} />
            {repacked_count > 0 && (
              <>
                · <Bytes value={repacked_bytes} /> → <Bytes value={repacked_needed_bytes} />
              </>
            )}
          </Group>
        ),
      },
      {
        key: 'examined',
        header: t('settings.garbageExamined'),
        align: 'right',
        from: 'md',
        cell: ({ examined_count }) => <Count value={examined_count} />,
      },
      {
        key: 'deleted',
        header: t('settings.garbageDeleted'),
        align: 'right',
        cell: ({ deleted_count }) => <Count value={deleted_count} />,
      },
      {
        key: 'by',
        header: t('settings.actor'),
        from: 'md',
        cell: ({ requested_by }) => requested_by?.username ?? t('settings.system'),
      },
      { key: 'pardon', header: t('common.actions'), align: 'right', cell: (run) => <Pardon run={run} /> },
    ],
    [t],
  );
}

function RunState({ run }: { run: GarbageRun }) {
  return (
    <Stack gap={2}>
      <StateBadge state={run.state} />
      {run.error && (
        <Text size="xs" c="red">
          {problemSentence(run.error)}
        </Text>
      )}
      {run.examples.slice(0, 3).map((key) => (
        <Code key={key}>{key.slice(0, 24)}…</Code>
      ))}
    </Stack>
  );
}

function Pardon({ run }: { run: GarbageRun }) {
  const { t } = useTranslation();
  const { pardon, isPending } = usePardonGarbage();
  if (run.condemned_count === 0) return null;
  const keep = () =>
    void pardon(run.id)
      .then(() => notifySuccess(t('settings.garbagePardoned')))
      .catch(notifyError);
  return (
    <Button size="compact-xs" variant="light" loading={isPending} onClick={keep}>
      {t('settings.garbagePardon', { count: run.condemned_count })}
    </Button>
  );
}
