import { Badge, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PathChange } from '@/api/contract/datasets';
import { LoadMore } from '@/shared/ui/LoadMore';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { authorName } from '../names';
import type { VersionAddress } from '../queries';
import classes from './item.module.css';
import { usePathHistory } from './queries';
import { Section } from './Section';

/** The changes of this path by version, the newest first. */
export function History({ address, path }: { address: VersionAddress; path: string }) {
  const { t } = useTranslation();
  const history = usePathHistory(address, path);
  return (
    <Section title={t('item.history')} error={history.error} onRetry={history.refetch} isLoading={!history.rows}>
      <Stack gap="sm">
        {history.rows?.map((row) => (
          <Change key={row.version.id} address={address} path={path} row={row} />
        ))}
        {history.endsAt && (
          <Text size="sm" c="dimmed">
            {t('item.historyEnds', { version: history.endsAt })}
          </Text>
        )}
        {history.hasMore && (
          <LoadMore onLoad={history.loadMore} loading={history.isLoadingMore} error={history.error} />
        )}
      </Stack>
    </Section>
  );
}

function Change({ address, path, row }: { address: VersionAddress; path: string; row: PathChange }) {
  const { t } = useTranslation();
  const { version, kinds, before, after } = row;
  const values = (name: 'label' | 'split') =>
    t('item.fromTo', { from: before?.[name] ?? t('item.nothing'), to: after?.[name] ?? t('item.nothing') });
  return (
    <div className={classes.change}>
      <Group gap={6}>
        <AnchorLink
          to="/datasets/$name/item"
          params={{ name: address.dataset }}
          // A removed file is shown in the version before.
          search={{ ref: after ? version.ref : (version.parents[0] ?? version.ref), item: path }}
          size="sm"
          fw={600}
        >
          {version.ref}
        </AnchorLink>
        {kinds.map((kind) => (
          <Badge key={kind} size="sm" color="gray">
            {t(`item.kind.${kind}`)}
          </Badge>
        ))}
      </Group>
      {kinds.includes('label') && <Text size="sm">{values('label')}</Text>}
      {kinds.includes('split') && <Text size="sm">{values('split')}</Text>}
      {version.message && <Text size="sm">{version.message}</Text>}
      <Text size="xs" c="dimmed">
        {authorName(version)} · <RelativeTime at={version.created_at} />
      </Text>
    </div>
  );
}
