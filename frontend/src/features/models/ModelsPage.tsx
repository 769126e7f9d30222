import { Group, Text, TextInput } from '@mantine/core';
import { IconBox, IconSearch } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Model } from '@/api/contract/models';
import { useMay } from '@/shared/domain/project';
import { useTyped } from '@/shared/forms/useTyped';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes } from '@/shared/ui/values';
import { AliasBadge } from './AliasBadge';
import { accuracyOf } from './accuracy';
import { useModels } from './queries';
import type { modelsSearch } from './search';

export function ModelsPage() {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof modelsSearch>;
  const mayRun = useMay('researcher');
  const models = useModels(search.q);
  const [typed, type] = useTyped(search.q ?? '', (next) => {
    void navigate({ to: '/models', search: (old) => ({ ...old, q: next || undefined }), replace: true });
  });
  const columns: Column<Model>[] = [
    {
      key: 'name',
      header: t('models.model'),
      cell: (model) => <CutName name={model.name} />,
      sortValue: (model) => model.name,
    },
    {
      key: 'aliases',
      header: t('models.aliases'),
      cell: (model) => (
        <Group gap={6}>
          {model.aliases.map((alias) => (
            <Group key={alias.name} gap={4} wrap="nowrap">
              <AliasBadge name={alias.name} />
              <Text size="xs" c="dimmed" className="tabular">
                {t('models.versionShort', { number: alias.version })}
              </Text>
            </Group>
          ))}
        </Group>
      ),
    },
    {
      key: 'accuracy',
      header: t('models.accuracy'),
      align: 'right',
      from: 'sm',
      width: 120,
      sortValue: (model) => accuracyOf(model.latest),
      cell: (model) => {
        const accuracy = accuracyOf(model.latest);
        return accuracy === null ? '–' : format.percent(accuracy, 2);
      },
    },
    {
      key: 'versions',
      header: t('models.versions'),
      align: 'right',
      width: 100,
      sortValue: (model) => model.versions_count,
      cell: (model) => format.number(model.versions_count),
    },
    {
      key: 'size',
      header: t('models.size'),
      align: 'right',
      from: 'md',
      width: 110,
      cell: (model) => <Bytes value={model.latest?.size_bytes} />,
    },
    {
      key: 'updated',
      header: t('models.updated'),
      align: 'right',
      from: 'sm',
      width: 140,
      sortValue: (model) => model.updated_at,
      cell: (model) => <RelativeTime at={model.updated_at} />,
    },
  ];
  const empty = search.q ? (
    <EmptyState icon={IconBox} title={t('common.noMatches')} />
  ) : (
    <EmptyState
      icon={IconBox}
      title={t('models.none')}
      action={mayRun && <ButtonLink to="/runs/new">{t('nav.newRun')}</ButtonLink>}
    />
  );
  return (
    <Page>
      <PageHeader title={t('models.title')} subtitle={t('models.subtitle')} />
      <TextInput
        size="xs"
        maw={340}
        mb="sm"
        aria-label={t('models.search')}
        placeholder={t('models.search')}
        leftSection={<IconSearch size={14} />}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
      />
      <DataTable
        label={t('models.title')}
        columns={columns}
        {...models}
        rowKey={(model) => model.id}
        rowLink={(model) => ({ to: '/models/$name', params: { name: model.name } })}
        empty={empty}
        sort={search.sort ?? ''}
        onSort={(sort) => void navigate({ to: '/models', search: (old) => ({ ...old, sort }), replace: true })}
        sortLocally
      />
    </Page>
  );
}
