import { AppShell, Badge, ScrollArea, Stack, Text, Tooltip } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/format';
import { NavRouterLink } from '@/shared/links';
import type { Rights } from '@/shared/project';
import { type NavItem, navigationFor } from './navigation';
import { useNavCounts } from './useNavCounts';

const isUnder = (path: string, to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`));

export function Sidebar({ rights, onNavigate }: { rights: Rights; onNavigate: () => void }) {
  const { t } = useTranslation();
  return (
    <AppShell.Section grow component={ScrollArea}>
      {navigationFor(rights).map((group) => (
        <Stack key={group.key ?? 'top'} gap={2} mb="sm">
          {group.key && (
            <Text size="xs" c="dimmed" fw={600} px="sm" pt={4}>
              {t(`nav.${group.key}`)}
            </Text>
          )}
          {group.items.map((item) => (
            <Entry key={item.key} item={item} onNavigate={onNavigate} />
          ))}
        </Stack>
      ))}
    </AppShell.Section>
  );
}

function Entry({ item, onNavigate }: { item: NavItem; onNavigate: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const count = useNavCounts()[item.key];
  const active = isUnder(path, item.to);
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
}
