import { Anchor, Badge, Button, Card, Chip, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconHistory, IconUser, IconX } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Happening } from '@/api/contract/datasets';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { DatasetHeader } from '../DatasetHeader';
import { useDataset } from '../queries';
import { ToDatasets } from '../ToDatasets';
import { useActivity } from './queries';
import { What } from './What';

const route = getRouteApi('/datasets/$name/activity');

export const KINDS = [
  'versions',
  'refs',
  'labels',
  'views',
  'keeping',
  'sources',
  'moving',
  'writers',
  'cleaning',
  'dataset',
] as const;

/** The events of a dataset with their persons, newest first. */
export function ActivityPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const dataset = useDataset(name);
  const lines = useActivity(name, search.kind, search.by);
  const [round, setRound] = useState(0);
  const change = (patch: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  // The field begins again from the address.
  const showAll = () => void navigate({ search: {} }).then(() => setRound(round + 1));
  const columns = useColumns(name, (by) => {
    change({ by });
    setRound(round + 1);
  });
  if (dataset.error && !dataset.data)
    return (
      <FailedPage title={name} above={<ToDatasets />} error={dataset.error} onRetry={() => void dataset.refetch()} />
    );
  const filtered = Boolean(search.kind || search.by);
  return (
    <Page>
      <DatasetHeader name={name} tab="activity" subtitle={t('activity.subtitle')} />
      <Filters key={round} search={search} change={change} onAll={filtered ? showAll : undefined} />
      <Card p={0}>
        <DataTable
          {...lines}
          label={t('activity.title')}
          columns={columns}
          rowKey={({ id, verb }) => `${id} ${verb}`}
          empty={
            <EmptyState
              icon={IconHistory}
              title={filtered ? t('common.noMatches') : t('activity.empty')}
              action={!filtered && <CommandLine command={`atom activity ${name}`} />}
            />
          }
        />
      </Card>
    </Page>
  );
}

interface FiltersProps {
  search: ReturnType<typeof route.useSearch>;
  change: (patch: { kind?: string[] | undefined; by?: string | undefined }) => void;
  onAll: (() => void) | undefined;
}

function Filters({ search, change, onAll }: FiltersProps) {
  const { t } = useTranslation();
  const setSoon = useDebouncedCallback((by: string) => change({ by: by.trim() || undefined }), 300);
  return (
    <Group gap="xs" mb="sm" role="group" aria-label={t('activity.filters')}>
      <Chip.Group
        multiple
        value={search.kind ?? []}
        onChange={(kind) => change({ kind: kind.length > 0 ? kind : undefined })}
      >
        {KINDS.map((kind) => (
          <Chip key={kind} size="xs" value={kind}>
            {t(`activity.kinds.${kind}`)}
          </Chip>
        ))}
      </Chip.Group>
      <TextInput
        size="xs"
        w={180}
        leftSection={<IconUser size={14} />}
        aria-label={t('activity.by')}
        placeholder={t('activity.by')}
        defaultValue={search.by ?? ''}
        maxLength={150}
        autoComplete="off"
        onChange={(event) => setSoon(event.currentTarget.value)}
      />
      {onAll && (
        <Button size="compact-xs" variant="subtle" leftSection={<IconX size={13} />} onClick={onAll}>
          {t('activity.all')}
        </Button>
      )}
    </Group>
  );
}

function useColumns(name: string, onActor: (actor: string) => void): Column<Happening>[] {
  const { t } = useTranslation();
  return useMemo<Column<Happening>[]>(
    () => [
      { key: 'when', header: t('datasets.when'), nowrap: true, cell: ({ at }) => <RelativeTime at={at} /> },
      {
        key: 'who',
        header: t('activity.who'),
        nowrap: true,
        cell: ({ actor }) =>
          actor ? (
            <Anchor
              component="button"
              type="button"
              size="sm"
              onClick={() => onActor(actor)}
              aria-label={t('activity.only', { name: actor })}
            >
              {actor}
            </Anchor>
          ) : (
            <Text size="sm" c="dimmed">
              Atom
            </Text>
          ),
      },
      { key: 'what', header: t('activity.what'), cell: (line) => <What dataset={name} line={line} /> },
      {
        key: 'kind',
        header: t('activity.kind'),
        from: 'md',
        nowrap: true,
        cell: ({ kind }) => (
          <Badge size="sm" color="gray">
            {t(`activity.kinds.${kind}`)}
          </Badge>
        ),
      },
    ],
    [t, name, onActor],
  );
}
