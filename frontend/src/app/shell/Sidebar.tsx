import { AppShell, Badge, ScrollArea, Stack, Text, Tooltip } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { useProjects, useRights } from '@/shared/domain/project';
import { useFormat } from '@/shared/ui/format';
import { NavRouterLink } from '@/shared/ui/links';
import { type NavItem, navigationFor } from './navigation';
import { type NavCounts, useNavCounts } from './useNavCounts';

const isUnder = (path: string, to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`));

/** Drawn again only when it changes, not with all that the shell hears of: it is most of the shell. */
export const Sidebar = memo(({ onNavigate }: { onNavigate: () => void }) => {
  const rights = useRights();
  const { t } = useTranslation();
  const counts = useNavCounts();
  // A role adds entries: groups that may grow come when the roles are known, for the others not to move.
  const known = !useProjects().isPending;
  const groups = navigationFor(rights).filter(({ key }) => known || key !== 'settings');
  return (
    <AppShell.Section grow component={ScrollArea}>
      {groups.map((group) => (
        <Stack key={group.key ?? 'top'} gap={2} mb="sm">
          {group.key && (
            <Text size="xs" c="dimmed" fw={600} px="sm" pt={4}>
              {t(`nav.${group.key}`)}
            </Text>
          )}
          {group.items.map((item) => (
            <Entry key={item.key} item={item} count={counts[item.key]} onNavigate={onNavigate} />
          ))}
        </Stack>
      ))}
    </AppShell.Section>
  );
});

interface EntryProps {
  item: NavItem;
  count: NavCounts[NavItem['key']];
  onNavigate: () => void;
}

const Entry = memo(({ item, count, onNavigate }: EntryProps) => {
  const { t } = useTranslation();
  const format = useFormat();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const active = [item.to, ...(item.also ?? [])].some((to) => isUnder(path, to));
  const badge = count ? (
    <Tooltip label={count.label}>
      <Badge size="sm" circle={count.value < 10} aria-label={count.label}>
        {format.compact(count.value)}
      </Badge>
    </Tooltip>
  ) : null;
  return (
    <NavRouterLink
      to={item.to}
      active={active}
      aria-current={active ? 'page' : undefined}
      label={t(`nav.${item.key}`)}
      leftSection={<item.icon size={17} stroke={1.7} aria-hidden />}
      rightSection={badge}
      onClick={onNavigate}
      py={6}
      style={{ borderRadius: 'var(--mantine-radius-md)' }}
    />
  );
});
