import { Button, Card, Group, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCloudDataConnection,
  IconDatabase,
  IconFlame,
  IconPlus,
  IconSearch,
  IconTrash,
  IconUpload,
} from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Dataset } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { useTyped } from '@/shared/forms/useTyped';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CutName } from '@/shared/ui/CutName';
import { useCommands } from '@/shared/ui/commands';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { Bytes } from '@/shared/ui/values';
import { ImportCommands } from '../browse/ImportCommands';
import { FileCount } from '../FileCount';
import { personName } from '../names';
import { useDatasets } from '../queries';
import type { Chosen } from '../upload/chosen';
import { DropAnywhere } from '../upload/DropAnywhere';
import { nameFrom } from '../upload/UploadForm';
import { NewDataset } from './NewDataset';

const route = getRouteApi('/datasets');

const asNewDataset = ({ root }: Chosen) => ({ dataset: nameFrom(root) || undefined });

export function DatasetsPage() {
  const { t } = useTranslation();
  const { q = '', sort } = route.useSearch();
  const navigate = route.useNavigate();
  const mayCreate = useMay('researcher');
  const [creating, create] = useDisclosure();
  const datasets = useDatasets(q);
  const columns = useColumns();
  useShortcuts(mayCreate ? [{ keys: 'N', label: t('datasets.new'), run: create.open }] : []);
  useCommands(mayCreate ? [{ id: 'new-dataset', label: t('datasets.new'), icon: IconPlus, run: create.open }] : []);
  return (
    <Page>
      <PageHeader title={t('datasets.title')} subtitle={t('datasets.subtitle')}>
        <Search />
        <ButtonLink variant="default" leftSection={<IconCloudDataConnection size={15} />} to="/sources">
          {t('sources.title')}
        </ButtonLink>
        <ButtonLink variant="default" leftSection={<IconFlame size={15} />} to="/warm-plans">
          {t('warmup.plans')}
        </ButtonLink>
        <ButtonLink variant="default" leftSection={<IconTrash size={15} />} to="/deleted-datasets">
          {t('datasets.deleted')}
        </ButtonLink>
        {mayCreate && (
          <>
            <ButtonLink variant="default" leftSection={<IconUpload size={15} />} to="/uploads">
              {t('upload.linkFolder')}
            </ButtonLink>
            <Button leftSection={<IconPlus size={15} />} onClick={create.open}>
              {t('datasets.new')}
            </Button>
            <DropAnywhere label={t('upload.dropNew')} search={asNewDataset} />
          </>
        )}
      </PageHeader>
      <Card p={0}>
        <DataTable
          {...datasets}
          label={t('datasets.title')}
          columns={columns}
          rowKey={({ id }) => id}
          rowLink={({ name }) => ({ to: '/datasets/$name', params: { name } })}
          sort={sort ?? ''}
          onSort={(next) => void navigate({ search: (search) => ({ ...search, sort: next }), replace: true })}
          sortLocally
          empty={<NoDatasets q={q} onCreate={mayCreate ? create.open : undefined} />}
        />
      </Card>
      <NewDataset opened={creating} onClose={create.close} />
    </Page>
  );
}

function Search() {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, type] = useTyped(q ?? '', (next) => {
    void navigate({ search: (old) => ({ ...old, q: next || undefined }), replace: true });
  });
  return (
    <TextInput
      aria-label={t('datasets.search')}
      placeholder={t('datasets.search')}
      leftSection={<IconSearch size={14} />}
      size="xs"
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}

function useColumns(): Column<Dataset>[] {
  const { t } = useTranslation();
  return useMemo<Column<Dataset>[]>(
    () => [
      {
        key: 'name',
        header: t('datasets.name'),
        cell: ({ name }) => <CutName name={name} />,
        sortValue: ({ name }) => name,
      },
      {
        key: 'latest',
        header: t('datasets.latest'),
        cell: ({ latest, is_loading }) => latest?.ref ?? t(is_loading ? 'datasets.loading' : 'datasets.noVersion'),
        sortValue: ({ versions_count }) => versions_count,
      },
      {
        key: 'files',
        header: t('datasets.files'),
        align: 'right',
        cell: ({ latest }) => <FileCount version={latest} />,
        sortValue: ({ latest }) => latest?.file_count ?? null,
      },
      {
        key: 'size',
        header: t('datasets.size'),
        align: 'right',
        cell: ({ latest }) => <Bytes value={latest?.size_bytes} />,
        sortValue: ({ latest }) => latest?.size_bytes ?? null,
      },
      {
        key: 'updated',
        header: t('datasets.updated'),
        from: 'sm',
        cell: (row) => <RelativeTime at={row.latest?.created_at ?? row.updated_at} />,
        sortValue: (row) => row.latest?.created_at ?? row.updated_at,
      },
      {
        key: 'by',
        header: t('datasets.by'),
        from: 'md',
        nowrap: true,
        cell: ({ latest }) => personName(latest?.author),
      },
    ],
    [t],
  );
}

function NoDatasets({ q, onCreate }: { q: string; onCreate?: () => void }) {
  const { t } = useTranslation();
  if (q) return <EmptyState icon={IconSearch} title={t('datasets.noMatch', { q })} />;
  const action = (
    <Stack align="center" gap="xs">
      {onCreate && (
        <Group gap="xs" justify="center">
          <ButtonLink leftSection={<IconUpload size={15} />} to="/uploads">
            {t('upload.linkFolder')}
          </ButtonLink>
          <Button variant="default" onClick={onCreate}>
            {t('datasets.new')}
          </Button>
        </Group>
      )}
      <ImportCommands name="digits" />
      {t('datasets.movingLoad')}
      <CommandLine command="atom data archive load ./archive" />
    </Stack>
  );
  return <EmptyState icon={IconDatabase} title={t('datasets.empty')} action={action} />;
}
