import { Alert, List, Text } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { AnchorLink } from '@/shared/ui/links';
import { useHolds, useRetention } from '../keeping/queries';

/** Why tags do not move, and what of the branches' versions stays: retention and legal holds. */
export function KeptNotes({ name }: { name: string }) {
  const { t } = useTranslation();
  const retention = useRetention(name).data;
  const holds = (useHolds(name).rows ?? []).filter(({ released_at }) => released_at === null);
  return (
    <Alert role="note" variant="light" color="gray" icon={<IconShieldCheck size={18} />} py="xs">
      <List size="sm" spacing={2}>
        <List.Item>{t('versioning.tagsStay')}</List.Item>
        {retention && (
          <List.Item>
            {t(`versioning.keeps.${retention.kind}`, { count: retention.limit ?? 0 })} {t('versioning.refsKeep')}{' '}
            <AnchorLink to="/datasets/$name/keeping" params={{ name }} size="sm">
              {t('datasets.keeping')}
            </AnchorLink>
          </List.Item>
        )}
        {holds.map((hold) => (
          <List.Item key={hold.id}>
            <Text span inherit fw={550}>
              {t('versioning.heldBy', { what: hold.ref ?? t('datasets.holdAll') })}
            </Text>{' '}
            {hold.reason}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
