import { Button, Card, Code, Group } from '@mantine/core';
import { IconLock, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { keyOf } from '@/api/client';
import type { Secret } from '@/api/contract/jobs';
import { useMay, useProject } from '@/shared/domain/project';
import { aboutSecret, removeSecret, SECRETS, useSecrets } from '@/shared/domain/secrets';
import { useRevocation } from '@/shared/domain/useRevocation';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { useCommands } from '@/shared/ui/commands';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { LongName } from '@/shared/ui/LongName';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { notifySuccess } from '@/shared/ui/undo';
import { ProjectHeader } from '../ProjectHeader';
import { GitHosts } from './GitHosts';
import { SecretForm } from './SecretForm';

const route = getRouteApi('/settings/secrets');

/** Secrets with which runs of the project sign in elsewhere: names and uses, never values. */
export function SecretsPage() {
  const { t } = useTranslation();
  const may = useMay('researcher');
  const project = useProject();
  const client = useQueryClient();
  const secrets = useSecrets();
  const { create, replace } = route.useSearch();
  const navigate = route.useNavigate();
  const refresh = () => client.invalidateQueries({ queryKey: keyOf(SECRETS) });
  const open = () => void navigate({ search: (old) => ({ ...old, create: 'yes' }) });
  const close = () =>
    void navigate({ search: (old) => ({ ...old, create: undefined, replace: undefined }), replace: true });
  const { hidden, revoke } = useRevocation({
    send: (name) => removeSecret(project, name),
    refresh,
    words: (name) => ({ revoking: t('secrets.removing', { name }), done: t('secrets.removed', { name }) }),
    about: (name) => aboutSecret(project, name),
  });
  const rows = useMemo(() => secrets.rows?.filter(({ name }) => !hidden.has(name)), [secrets.rows, hidden]);
  const kept = (name: string) => {
    notifySuccess(t(replace ? 'secrets.replaced' : 'secrets.kept', { name }));
    close();
    void refresh();
  };
  const ways = may ? { keys: 'N', label: t('secrets.new'), run: open } : null;
  useShortcuts(ways ? [ways] : []);
  useCommands(ways ? [{ id: 'new-secret', label: ways.label, icon: IconPlus, run: open }] : []);
  const columns: Column<Secret>[] = [
    {
      key: 'name',
      header: t('settings.tokenName'),
      cell: ({ name }) => <Code>{name}</Code>,
      sortValue: ({ name }) => name,
    },
    {
      key: 'description',
      header: t('secrets.description'),
      from: 'md',
      elastic: true,
      cell: ({ description }) => <LongName value={description ?? ''} />,
    },
    { key: 'set_by', header: t('secrets.setBy'), from: 'sm', cell: ({ set_by }) => set_by ?? '–' },
    {
      key: 'set_at',
      header: t('secrets.setAt'),
      from: 'xs',
      cell: ({ set_at }) => <RelativeTime at={set_at} />,
      sortValue: ({ set_at }) => set_at,
    },
    {
      key: 'used',
      header: t('secrets.used'),
      from: 'sm',
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
      sortValue: ({ last_used_at }) => last_used_at,
    },
    {
      key: 'actions',
      header: t('common.actions'),
      align: 'right',
      cell: ({ name }) => (
        <Group gap={6} wrap="nowrap" justify="flex-end">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t('secrets.replaceName', { name })}
            onClick={() => void navigate({ search: (old) => ({ ...old, replace: name }) })}
          >
            {t('secrets.replaceShort')}
          </Button>
          <Button
            size="compact-xs"
            variant="light"
            color="red"
            aria-label={t('secrets.removeName', { name })}
            data-takes-row
            onClick={(event) => {
              focusNeighbour(event.currentTarget);
              revoke({ id: name, name });
            }}
          >
            {t('secrets.remove')}
          </Button>
        </Group>
      ),
    },
  ];
  const button = may && (
    <Button leftSection={<IconPlus size={15} />} onClick={open} data-first-action>
      {t('secrets.new')}
    </Button>
  );
  return (
    <Page>
      <ProjectHeader tab="secrets" subtitle={t('secrets.subtitle')}>
        {button}
      </ProjectHeader>
      <Card p={0}>
        {may ? (
          <DataTable
            {...secrets}
            rows={rows}
            label={t('secrets.title')}
            columns={columns}
            rowKey={({ name }) => name}
            empty={<EmptyState icon={IconLock} title={t('secrets.empty')} action={button} />}
          />
        ) : (
          <EmptyState icon={IconLock} title={t('secrets.emptyForbidden')} />
        )}
      </Card>
      {may && <GitHosts />}
      <Dialog
        opened={may && (create !== undefined || replace !== undefined)}
        onClose={close}
        title={replace ? t('secrets.replaceTitle', { name: replace }) : t('secrets.new')}
      >
        <SecretForm name={replace} onKept={kept} onCancel={close} />
      </Dialog>
    </Page>
  );
}
