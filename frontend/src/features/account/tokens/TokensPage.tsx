import { Anchor, Badge, Code, Group } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ApiToken } from '@/api/contract/accounts';
import { MlflowLines } from '@/shared/domain/MlflowLines';
import { useRevocation } from '@/shared/domain/useRevocation';
import type { Column } from '@/shared/grid/DataTable';
import { API_DOCS } from '@/shared/ui/links';
import { SecretModal } from '@/shared/ui/SecretModal';
import { KeysPage } from '../keys/KeysPage';
import { lifeColumns, nameColumn } from '../keys/keyColumns';
import { revokeToken, useRefreshTokens, useTokens } from '../queries';
import { NewTokenForm } from './NewTokenForm';
import { TokenSecret } from './TokenSecret';

const route = getRouteApi('/settings/tokens');

export function TokensPage() {
  const { t } = useTranslation();
  const creating = route.useSearch().create !== undefined;
  const navigate = route.useNavigate();
  const open = () => void navigate({ search: (old) => ({ ...old, create: 'yes' }) });
  // Replaced: going back does not open the form that was closed.
  const close = () => void navigate({ search: (old) => ({ ...old, create: undefined }), replace: true });
  const { hidden, revoke } = useRevocation<ApiToken>({
    send: revokeToken,
    refresh: useRefreshTokens(),
    words: (name) => ({ revoking: t('settings.revoking', { name }), done: t('settings.revokedDone', { name }) }),
  });
  return (
    <>
      <KeysPage
        words={{
          title: t('settings.tokensTitle'),
          subtitle: (
            <>
              {t('settings.tokensSubtitle')}{' '}
              <Anchor href={API_DOCS} fz="inherit" underline="always">
                {t('shell.apiDocs')}
              </Anchor>
            </>
          ),
          create: t('settings.newToken'),
          empty: t('settings.tokensEmpty'),
        }}
        icon={IconKey}
        command="new-token"
        keys={useTokens()}
        columns={useColumns(revoke)}
        hidden={hidden}
        onCreate={open}
      >
        <MlflowLines linksToTokens={false} />
      </KeysPage>
      {creating && (
        <SecretModal<string>
          title={t('settings.newToken')}
          onClose={close}
          form={(onCreated) => <NewTokenForm onCreated={onCreated} onCancel={close} />}
          secret={(created) => <TokenSecret secret={created} onDone={close} />}
        />
      )}
    </>
  );
}

function useColumns(revoke: (token: ApiToken) => void): Column<ApiToken>[] {
  const { t } = useTranslation();
  return [
    nameColumn(t),
    {
      key: 'prefix',
      header: t('settings.prefix'),
      from: 'sm',
      cell: ({ prefix }) => <Code>{`atom_${prefix}_…`}</Code>,
    },
    {
      key: 'scopes',
      header: t('settings.scopes'),
      cell: ({ scopes }) => (
        <Group gap={4}>
          {scopes.map((scope) => (
            <Badge key={scope} size="sm" miw="max-content" color={scope === 'admin' ? 'orange' : 'gray'}>
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
    ...lifeColumns<ApiToken>(t, { label: (name) => t('settings.revokeName', { name }), revoke }),
  ];
}
