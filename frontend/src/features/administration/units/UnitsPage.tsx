import { Box, Button, Card, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFolderPlus, IconPlus, IconSearch, IconSitemap } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Unit } from '@/api/contract/accounts';
import { useRights } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { useCommands } from '@/shared/ui/commands';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Page } from '@/shared/ui/Page';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { Count } from '@/shared/ui/values';
import { AdministrationHeader } from '../AdministrationHeader';
import { NewProject } from './NewProject';
import { NewUnit } from './NewUnit';
import { useUnits } from './queries';

const route = getRouteApi('/settings/units');
const INDENT_PX = 22;

/** The tree of units on which the person has a role, each before what lies below it. */
export function UnitsPage() {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const units = useUnits(q);
  const columns = useColumns(q !== undefined);
  const [making, setMaking] = useState<'unit' | 'project' | null>(null);
  const close = () => setMaking(null);
  const may = useRights().units;
  useShortcuts(may ? [{ keys: 'N', label: t('people.newProject'), run: () => setMaking('project') }] : []);
  useCommands(
    may
      ? [
          { id: 'new-project', label: t('people.newProject'), icon: IconFolderPlus, run: () => setMaking('project') },
          { id: 'new-unit', label: t('people.newUnit'), icon: IconPlus, run: () => setMaking('unit') },
        ]
      : [],
  );
  return (
    <Page>
      <AdministrationHeader tab="units" subtitle={t('people.unitsSubtitle')}>
        <Search />
        {may && (
          <>
            <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => setMaking('unit')}>
              {t('people.newUnit')}
            </Button>
            <Button leftSection={<IconFolderPlus size={15} />} onClick={() => setMaking('project')} data-first-action>
              {t('people.newProject')}
            </Button>
          </>
        )}
      </AdministrationHeader>
      <Card p={0}>
        <DataTable
          {...units}
          label={t('people.unitsTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({ to: '/settings/units/$unitId', params: { unitId: id } })}
          rowName={({ name }) => name}
          empty={<EmptyState icon={IconSitemap} title={q ? t('common.noMatches') : t('people.noUnits')} />}
        />
      </Card>
      <NewUnit opened={making === 'unit'} onClose={close} />
      <NewProject opened={making === 'project'} onClose={close} />
    </Page>
  );
}

function Search() {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const setSoon = useDebouncedCallback(
    (next: string) => void navigate({ search: { q: next.trim() || undefined }, replace: true }),
    300,
  );
  return (
    <TextInput
      size="xs"
      aria-label={t('people.searchUnits')}
      placeholder={t('people.searchUnits')}
      leftSection={<IconSearch size={14} />}
      defaultValue={q ?? ''}
      onChange={(event) => setSoon(event.currentTarget.value)}
    />
  );
}

function useColumns(isSearch: boolean): Column<Unit>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'name',
      header: t('people.unit'),
      cell: ({ name, depth }) => (
        <Box pl={isSearch ? 0 : `min(${depth * INDENT_PX}px, 40vw)`}>
          <CutName name={name} />
        </Box>
      ),
    },
    {
      key: 'organisation',
      header: t('people.organisation'),
      from: 'md',
      cell: ({ organisation }) => organisation.name,
    },
    {
      key: 'units',
      header: t('people.unitsBelow'),
      align: 'right',
      from: 'sm',
      cell: ({ unit_count }) => <Count value={unit_count} />,
    },
    {
      key: 'projects',
      header: t('people.projects'),
      align: 'right',
      cell: ({ project_count }) => <Count value={project_count} />,
    },
    {
      key: 'role',
      header: t('people.yourRole'),
      from: 'sm',
      cell: ({ role }) => <Group gap={4}>{t(`people.roles.${role}`)}</Group>,
    },
  ];
}
