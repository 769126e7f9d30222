import { Code } from '@mantine/core';
import { IconBucket } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { CreatedS3Key, S3KeyPair } from '@/api/contract/accounts';
import { useRevocation } from '@/shared/domain/useRevocation';
import type { Column } from '@/shared/grid/DataTable';
import { SecretModal } from '@/shared/ui/SecretModal';
import { KeysPage } from '../keys/KeysPage';
import { lifeColumns, nameColumn } from '../keys/keyColumns';
import { revokeS3Key, useRefreshS3Keys, useS3Keys } from '../queries';
import { NewS3KeyForm } from './NewS3KeyForm';
import { S3KeySecret } from './S3KeySecret';

const route = getRouteApi('/settings/s3-keys');

export function S3KeysPage() {
  const { t } = useTranslation();
  const creating = route.useSearch().create !== undefined;
  const navigate = route.useNavigate();
  const open = () => void navigate({ search: (old) => ({ ...old, create: 'yes' }) });
  // Replaced: going back does not open the form that was closed.
  const close = () => void navigate({ search: (old) => ({ ...old, create: undefined }), replace: true });
  const { hidden, revoke } = useRevocation<S3KeyPair>({
    send: revokeS3Key,
    refresh: useRefreshS3Keys(),
    words: (name) => ({ revoking: t('settings.s3.revoking', { name }), done: t('settings.s3.revokedDone', { name }) }),
  });
  const columns: Column<S3KeyPair>[] = [
    nameColumn(t),
    { key: 'key', header: t('settings.s3.keyId'), cell: ({ access_key_id }) => <Code>{access_key_id}</Code> },
    { key: 'project', header: t('settings.project'), from: 'md', cell: ({ project }) => project },
    ...lifeColumns<S3KeyPair>(t, { label: (name) => t('settings.s3.revokeName', { name }), revoke }),
  ];
  return (
    <>
      <KeysPage
        words={{
          title: t('settings.s3.title'),
          subtitle: t('settings.s3.subtitle'),
          create: t('settings.s3.new'),
          empty: t('settings.s3.empty'),
        }}
        icon={IconBucket}
        command="new-s3-key"
        keys={useS3Keys()}
        columns={columns}
        hidden={hidden}
        onCreate={open}
      />
      {creating && (
        <SecretModal<CreatedS3Key>
          title={t('settings.s3.new')}
          onClose={close}
          form={(onCreated) => <NewS3KeyForm onCreated={onCreated} onCancel={close} />}
          secret={(created) => <S3KeySecret created={created} onDone={close} />}
        />
      )}
    </>
  );
}
