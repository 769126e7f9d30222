import { Alert, Group, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconLink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { ButtonLink } from '@/shared/ui/links';
import { visible } from '@/shared/ui/visible';
import type { VersionAddress } from '../queries';

/** A symbolic link: its target, and a way to what it leads to. */
export function LinkTarget({ address, link }: { address: VersionAddress; link: NonNullable<Entry['link']> }) {
  const { t } = useTranslation();
  return (
    <Alert icon={<IconLink size={18} />} title={t('item.link.title')} color="gray">
      <Stack gap="xs">
        <Group gap={6} wrap="nowrap">
          <IconArrowRight size={14} aria-hidden />
          <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {visible(link.target)}
          </Text>
        </Group>
        {link.leads_to === null ? (
          <Text size="sm">{t(link.leaves ? 'item.link.leaves' : 'item.link.circle')}</Text>
        ) : link.kind === 'nothing' ? (
          <Text size="sm">{t('item.link.nothing', { name: visible(link.leads_to) })}</Text>
        ) : (
          <Lead address={address} path={link.leads_to} isFile={link.kind === 'file'} />
        )}
        <Text size="sm" c="dimmed">
          {t('item.link.hint')}
        </Text>
      </Stack>
    </Alert>
  );
}

function Lead({ address, path, isFile }: { address: VersionAddress; path: string; isFile: boolean }) {
  const { t } = useTranslation();
  const name = visible(path) || t('item.link.top');
  return (
    <Group>
      {isFile ? (
        <ButtonLink
          size="xs"
          variant="default"
          to="/datasets/$name/item"
          params={{ name: address.dataset }}
          search={{ ref: address.ref, item: path }}
        >
          {t('item.link.file', { name })}
        </ButtonLink>
      ) : (
        <ButtonLink
          size="xs"
          variant="default"
          to="/datasets/$name"
          params={{ name: address.dataset }}
          search={{ ref: address.ref, path: path ? `${path}/` : undefined }}
        >
          {t('item.link.folder', { name })}
        </ButtonLink>
      )}
    </Group>
  );
}
