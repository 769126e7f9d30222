import { Card, Skeleton, Stack, Text, Timeline, Title } from '@mantine/core';
import { IconBox } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ModelVersion } from '@/api/contract/models';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { useArrived } from '@/shared/live/useArrived';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { LoadMore } from '@/shared/ui/LoadMore';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes } from '@/shared/ui/values';
import { AliasBadge } from './AliasBadge';
import { AliasEditor } from './AliasEditor';
import { accuracyOf } from './accuracy';
import { useAliasHistory, useModel, useModelVersions } from './queries';
import type { modelSearch } from './search';
import { ToModels } from './ToModels';

export function ModelPage() {
  const { t } = useTranslation();
  const { name = '' } = useParams({ strict: false });
  const model = useModel(name);
  const versions = useModelVersions(name);
  // The history comes below the versions, however many there are.
  const hasVersions = useArrived(versions.rows !== undefined || versions.error != null);
  if (model.error && !model.data)
    return <FailedPage title={name} above={<ToModels />} error={model.error} onRetry={() => void model.refetch()} />;
  if (!model.data)
    return (
      <Page>
        <Stack aria-busy>
          <Skeleton height={28} width={240} />
          <Skeleton height={200} />
        </Stack>
      </Page>
    );
  return (
    <Page>
      <PageHeader
        title={name}
        above={<ToModels />}
        badges={model.data.aliases.map((alias) => <AliasBadge key={alias.name} name={alias.name} />)}
        subtitle={t('models.versionsCount', { count: model.data.versions_count })}
      />
      <VersionTable name={name} versions={versions} />
      {hasVersions && (
        <>
          <Title order={2} fz="sm" mt="xl" mb="xs">
            {t('models.aliasHistory')}
          </Title>
          <History name={name} />
        </>
      )}
    </Page>
  );
}

function VersionTable({ name, versions }: { name: string; versions: ReturnType<typeof useModelVersions> }) {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof modelSearch>;
  const columns: Column<ModelVersion>[] = [
    {
      key: 'number',
      header: t('models.version'),
      width: 110,
      sortValue: (version) => version.number,
      cell: (version) => t('models.versionNumber', { number: version.number }),
    },
    {
      key: 'aliases',
      header: t('models.aliases'),
      cell: (version) => <AliasEditor model={name} number={version.number} aliases={version.aliases} />,
    },
    {
      key: 'accuracy',
      header: t('models.accuracy'),
      align: 'right',
      width: 110,
      sortValue: accuracyOf,
      cell: (version) => {
        const accuracy = accuracyOf(version);
        return accuracy === null ? '–' : format.percent(accuracy, 2);
      },
    },
    {
      key: 'size',
      header: t('models.size'),
      align: 'right',
      from: 'sm',
      width: 100,
      cell: (version) => <Bytes value={version.size_bytes} />,
    },
    {
      key: 'who',
      header: t('models.createdBy'),
      from: 'md',
      cell: (version) => version.created_by?.full_name || version.created_by?.username || '–',
    },
    {
      key: 'created',
      header: t('models.created'),
      align: 'right',
      from: 'sm',
      width: 140,
      sortValue: (version) => version.created_at,
      cell: (version) => <RelativeTime at={version.created_at} />,
    },
  ];
  return (
    <DataTable
      label={t('models.versions')}
      columns={columns}
      {...versions}
      rowKey={(version) => version.id}
      rowLink={(version) => ({ to: '/models/$name/versions/$n', params: { name, n: String(version.number) } })}
      sort={search.sort ?? ''}
      onSort={(sort) => void navigate({ to: '.', search: (old) => ({ ...old, sort }), replace: true })}
      sortLocally
      empty={<EmptyState icon={IconBox} title={t('models.noVersions')} />}
    />
  );
}

function History({ name }: { name: string }) {
  const { t } = useTranslation();
  const { rows, error, refetch, hasMore, isLoadingMore, loadMore } = useAliasHistory(name);
  if (error && !rows) return <ErrorState error={error} onRetry={refetch} compact />;
  if (!rows) return <Skeleton height={80} radius="md" />;
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm">
        {t('models.noHistory')}
      </Text>
    );
  return (
    <Card>
      <Timeline bulletSize={12} lineWidth={2}>
        {rows.map(({ alias, old_version: old, new_version: next, actor, at }) => (
          <Timeline.Item
            key={`${alias}/${at}`}
            title={
              <Text size="sm" fw={550}>
                {next === null
                  ? t('models.historyRemoved', { alias, old })
                  : old === null
                    ? t('models.historySet', { alias, next })
                    : t('models.historyMoved', { alias, old, next })}
              </Text>
            }
          >
            <Text size="xs" c="dimmed">
              {actor ? t('models.by', { name: actor.full_name || actor.username }) : ''} <RelativeTime at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
      {hasMore && <LoadMore onLoad={loadMore} loading={isLoadingMore} error={error} />}
    </Card>
  );
}
