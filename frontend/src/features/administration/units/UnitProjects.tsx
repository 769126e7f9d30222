import { Button, Card, Code, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconFolders } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TreeProject } from '@/api/contract/accounts';
import { FormFrame } from '@/shared/forms/FormFrame';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { changeProject, useRefreshTree, useUnitProjects } from './queries';
import { UnitSelect } from './UnitSelect';

/** The projects that hang on one unit. */
export function UnitProjects({ unitId, may }: { unitId: string; may: boolean }) {
  const { t } = useTranslation();
  const projects = useUnitProjects(unitId);
  const [changing, setChanging] = useState<TreeProject | null>(null);
  const close = () => setChanging(null);
  const columns: Column<TreeProject>[] = [
    { key: 'name', header: t('common.name'), cell: ({ name }) => <CutName name={name} /> },
    { key: 'slug', header: t('people.slug'), cell: ({ slug }) => <Code>{slug}</Code> },
    {
      key: 'created',
      header: t('people.made'),
      from: 'sm',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      key: 'change',
      header: t('common.actions'),
      align: 'right',
      cell: (project) =>
        may && (
          <Group justify="flex-end">
            <Button
              size="compact-xs"
              variant="light"
              aria-label={t('people.changeName', { name: project.name })}
              onClick={() => setChanging(project)}
            >
              {t('people.change')}
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <Card p={0}>
      <DataTable
        {...projects}
        label={t('people.projects')}
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ slug }) => ({ to: '/', search: { project: slug } })}
        rowName={({ name }) => name}
        empty={<EmptyState icon={IconFolders} title={t('people.noProjects')} />}
      />
      <Dialog
        opened={changing !== null}
        onClose={close}
        title={t('people.changeName', { name: changing?.name ?? '' })}
        size="md"
      >
        {changing && <ChangeForm project={changing} onDone={close} />}
      </Dialog>
    </Card>
  );
}

function ChangeForm({ project, onDone }: { project: TreeProject; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshTree();
  const form = useForm({
    initialValues: { name: project.name, unit: project.unit },
    validate: { name: (value) => (value.trim() ? null : t('people.required')) },
  });
  const send = async ({ name, unit }: { name: string; unit: string }) => {
    await changeProject(project.slug, { name: name.trim(), unit });
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <TextInput label={t('common.name')} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
      <UnitSelect description={t('people.moveProjectHint')} {...form.getInputProps('unit')} />
    </FormFrame>
  );
}
