import { Button, Group, Menu } from '@mantine/core';
import {
  IconArrowLeft,
  IconArrowsMove,
  IconDotsVertical,
  IconFolderPlus,
  IconPencil,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Unit } from '@/api/contract/accounts';
import { PlaceTabs } from '@/shared/domain/people/PlaceTabs';
import { IN_PALETTE } from '@/shared/ui/commands';
import { FailedPage } from '@/shared/ui/FailedPage';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { confirmUndo, notifySuccess } from '@/shared/ui/undo';
import { MoveUnit, RenameUnit } from './ChangeUnit';
import { NewProject } from './NewProject';
import { NewUnit } from './NewUnit';
import { deleteUnit, useRefreshTree, useUnit } from './queries';
import { UnitProjects } from './UnitProjects';

const route = getRouteApi('/settings/units/$unitId');

export function UnitPage() {
  const { t } = useTranslation();
  const { unitId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: unit, error, refetch } = useUnit(unitId);
  const above = (
    <AnchorLink to="/settings/units" size="sm">
      <Group gap={4} component="span">
        <IconArrowLeft size={14} aria-hidden /> {t('people.unitsTitle')}
      </Group>
    </AnchorLink>
  );
  if (error && !unit)
    return <FailedPage title={t('people.unit')} above={above} error={error} onRetry={() => void refetch()} />;
  const may = unit?.role === 'admin';
  const projects = <UnitProjects unitId={unitId} may={may} />;
  return (
    <Page>
      <PageHeader title={unit?.name ?? '…'} subtitle={unit?.organisation.name} above={above}>
        {unit && may && <Actions unit={unit} />}
      </PageHeader>
      {unit && !may && projects}
      {unit && may && (
        <PlaceTabs
          place={{ kind: 'unit', unit_id: unitId }}
          search={search}
          onSearch={(patch) => void navigate({ search: (old) => ({ ...old, ...patch }), replace: true })}
          projects={projects}
        />
      )}
    </Page>
  );
}

function Actions({ unit }: { unit: Unit }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<'unit' | 'project' | 'rename' | 'move' | null>(null);
  const close = () => setOpen(null);
  const remove = useRemoval(unit);
  const isEmpty = unit.unit_count === 0 && unit.project_count === 0;
  return (
    <>
      <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => setOpen('unit')}>
        {t('people.newUnitBelow')}
      </Button>
      <Button leftSection={<IconFolderPlus size={15} />} onClick={() => setOpen('project')}>
        {t('people.newProject')}
      </Button>
      <Menu position="bottom-end" {...IN_PALETTE}>
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={t('common.more')}>
            <IconDotsVertical size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setOpen('rename')}>
            {t('people.rename')}
          </Menu.Item>
          <Menu.Item leftSection={<IconArrowsMove size={15} />} onClick={() => setOpen('move')}>
            {t('people.move')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={remove} disabled={!isEmpty}>
            {isEmpty ? t('common.delete') : t('people.deleteEmptyOnly')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <NewUnit opened={open === 'unit'} onClose={close} parent={unit.id} />
      <NewProject opened={open === 'project'} onClose={close} unit={unit.id} />
      <RenameUnit opened={open === 'rename'} onClose={close} unit={unit} />
      <MoveUnit opened={open === 'move'} onClose={close} unit={unit} />
    </>
  );
}

function useRemoval({ id, name }: Unit) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const refresh = useRefreshTree();
  return () => {
    void navigate({ to: '/settings/units', search: {} });
    confirmUndo({
      message: t('people.unitDeleting', { name }),
      commit: async () => {
        await deleteUnit(id);
        notifySuccess(t('people.unitDeleted', { name }));
        await refresh();
      },
      rollback: () => void navigate({ to: '/settings/units/$unitId', params: { unitId: id }, search: {} }),
    });
  };
}
