import { Button, Card, Code } from '@mantine/core';
import { IconBucket, IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { S3KeyPair } from '@/api/contract/accounts';
import { useCommands } from '@/shared/commands';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { RelativeTime } from '@/shared/RelativeTime';
import { StateBadge } from '@/shared/StateBadge';
import { useShortcuts } from '@/shared/shortcuts';
import { revokeS3Key, useRefreshS3Keys, useS3Keys } from '../queries';
import { useRevocation } from '../useRevocation';
import { NewS3KeyModal } from './NewS3KeyModal';

const route = getRouteApi('/settings/s3-keys');

export function S3KeysPage() {
  const { t } = useTranslation();
  const creating = route.useSearch().create !== undefined;
  const navigate = route.useNavigate();
  const setCreating = (on: boolean) => void navigate({ search: (old) => ({ ...old, create: on ? 'yes' : undefined }) });
  const keys = useS3Keys();
  const { hidden, revoke } = useRevocation<S3KeyPair>({
    send: revokeS3Key,
    refresh: useRefreshS3Keys(),
    words: (name) => ({ revoking: t('settings.s3.revoking', { name }), done: t('settings.s3.revokedDone', { name }) }),
  });
  const columns = useColumns(revoke);
  const rows = useMemo(() => keys.rows?.filter(({ id }) => !hidden.has(id)), [keys.rows, hidden]);
  const open = () => setCreating(true);
  useShortcuts([{ keys: 'N', label: t('settings.s3.new'), run: open }]);
  useCommands([{ id: 'new-s3-key', label: t('settings.s3.new'), icon: IconPlus, run: open }]);
  const newKey = (
    <Button leftSection={<IconPlus size={15} />} onClick={open}>
      {t('settings.s3.new')}
    </Button>
  );
  return (
    <Page>
      <PageHeader title={t('settings.s3.title')} subtitle={t('settings.s3.subtitle')}>
        {newKey}
      </PageHeader>
      <Card p={0}>
        <DataTable
          {...keys}
          rows={rows}
          label={t('settings.s3.title')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState
              icon={IconBucket}
              title={t('settings.s3.empty')}
              hint={t('settings.s3.emptyHint')}
              action={newKey}
            />
          }
        />
      </Card>
      {creating && <NewS3KeyModal onClose={() => setCreating(false)} />}
    </Page>
  );
}

const isPast = (at: string | null) => at !== null && Date.parse(at) < Date.now();

function useColumns(revoke: (key: S3KeyPair) => void): Column<S3KeyPair>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('settings.tokenName'), cell: ({ name }) => name, sortValue: ({ name }) => name },
    { key: 'key', header: t('settings.s3.keyId'), cell: ({ access_key_id }) => <Code>{access_key_id}</Code> },
    { key: 'project', header: t('settings.project'), from: 'md', cell: ({ project }) => project },
    {
      key: 'last_used',
      header: t('settings.lastUsed'),
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
      sortValue: ({ last_used_at }) => last_used_at,
    },
    {
      key: 'expires',
      header: t('settings.expires'),
      from: 'sm',
      cell: ({ expires_at }) =>
        isPast(expires_at) ? <StateBadge state="expired" /> : <RelativeTime at={expires_at} />,
      sortValue: ({ expires_at }) => expires_at,
    },
    {
      key: 'created',
      header: t('settings.created'),
      from: 'lg',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
      sortValue: ({ created_at }) => created_at,
    },
    {
      key: 'revoke',
      header: t('common.actions'),
      align: 'right',
      cell: (key) => (
        <Button
          size="compact-xs"
          variant="light"
          color="red"
          aria-label={t('settings.s3.revokeName', { name: key.name })}
          onClick={() => revoke(key)}
        >
          {t('settings.revoke')}
        </Button>
      ),
    },
  ];
}
