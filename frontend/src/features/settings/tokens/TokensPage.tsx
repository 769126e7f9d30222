import { Badge, Button, Card, Code, Group } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiToken } from '@/api/contract/accounts';
import { useCommands } from '@/shared/commands';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { RelativeTime } from '@/shared/RelativeTime';
import { StateBadge } from '@/shared/StateBadge';
import { useShortcuts } from '@/shared/shortcuts';
import { revokeToken, useRefreshTokens, useTokens } from '../queries';
import { useRevocation } from '../useRevocation';
import { NewTokenModal } from './NewTokenModal';

const route = getRouteApi('/settings/tokens');

export function TokensPage() {
  const { t } = useTranslation();
  const creating = route.useSearch().create !== undefined;
  const navigate = route.useNavigate();
  const setCreating = (on: boolean) => void navigate({ search: (old) => ({ ...old, create: on ? 'yes' : undefined }) });
  const tokens = useTokens();
  const { hidden, revoke } = useRevocation<ApiToken>({
    send: revokeToken,
    refresh: useRefreshTokens(),
    words: (name) => ({ revoking: t('settings.revoking', { name }), done: t('settings.revokedDone', { name }) }),
  });
  const columns = useColumns(revoke);
  const rows = useMemo(() => tokens.rows?.filter(({ id }) => !hidden.has(id)), [tokens.rows, hidden]);
  const open = () => setCreating(true);
  useShortcuts([{ keys: 'N', label: t('settings.newToken'), run: open }]);
  useCommands([{ id: 'new-token', label: t('settings.newToken'), icon: IconPlus, run: open }]);
  const newToken = (
    <Button leftSection={<IconPlus size={15} />} onClick={open}>
      {t('settings.newToken')}
    </Button>
  );
  return (
    <Page>
      <PageHeader title={t('settings.tokensTitle')} subtitle={t('settings.tokensSubtitle')}>
        {newToken}
      </PageHeader>
      <Card p={0}>
        <DataTable
          {...tokens}
          rows={rows}
          label={t('settings.tokensTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState
              icon={IconKey}
              title={t('settings.tokensEmpty')}
              hint={t('settings.tokensEmptyHint')}
              action={newToken}
            />
          }
        />
      </Card>
      {creating && <NewTokenModal onClose={() => setCreating(false)} />}
    </Page>
  );
}

const isPast = (at: string | null) => at !== null && Date.parse(at) < Date.now();

function useColumns(revoke: (token: ApiToken) => void): Column<ApiToken>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('settings.tokenName'), cell: ({ name }) => name, sortValue: ({ name }) => name },
    { key: 'prefix', header: t('settings.prefix'), cell: ({ prefix }) => <Code>{`atom_${prefix}_…`}</Code> },
    {
      key: 'scopes',
      header: t('settings.scopes'),
      cell: ({ scopes }) => (
        <Group gap={4}>
          {scopes.map((scope) => (
            <Badge key={scope} size="sm" color={scope === 'admin' ? 'orange' : 'gray'}>
              {t(`settings.scope_${scope}`)}
            </Badge>
          ))}
        </Group>
      ),
    },
    {
      key: 'project',
      header: t('settings.project'),
      from: 'md',
      cell: ({ project }) => project ?? t('settings.allProjects'),
    },
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
      cell: (token) => (
        <Button
          size="compact-xs"
          variant="light"
          color="red"
          aria-label={t('settings.revokeName', { name: token.name })}
          onClick={() => revoke(token)}
        >
          {t('settings.revoke')}
        </Button>
      ),
    },
  ];
}
