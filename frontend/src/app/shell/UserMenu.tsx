import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import {
  IconApi,
  IconCheck,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconRowInsertBottom,
  IconTable,
} from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useDensity } from '@/shared/grid/density';
import { API_DOCS, MenuLink } from '@/shared/ui/links';
import { ACCOUNT } from '@/shared/ui/settingsPages';
import { notifyError } from '@/shared/ui/undo';
import { sessionQuery, signOut } from '../session';

export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const user = useQuery(sessionQuery).data?.user;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { density, toggle: toggleDensity } = useDensity();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => navigate({ to: '/login', search: {} }),
    onError: notifyError,
  });
  const name = user?.full_name || user?.username || '';
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <UnstyledButton style={{ borderRadius: '50%' }}>
          <VisuallyHidden>{t('shell.account', { name })}</VisuallyHidden>
          <Avatar size={30} color="atom" name={name} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" component="span" display="block">
            {name}
          </Text>
          {user?.username}
        </Menu.Label>
        <Menu.Divider />
        {ACCOUNT.map(({ key, to, icon: Glyph }) => (
          <MenuLink key={key} to={to} leftSection={<Glyph size={15} />}>
            {t(`nav.${key}`)}
          </MenuLink>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href={API_DOCS} leftSection={<IconApi size={15} />}>
          {t('shell.apiDocs')}
        </Menu.Item>
        {user?.is_admin && (
          <Menu.Item component="a" href="/admin/" leftSection={<IconTable size={15} />}>
            {t('shell.tables')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={onShortcuts}>
          {t('shell.shortcuts')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconRowInsertBottom size={15} />}
          rightSection={density === 'compact' ? <IconCheck size={14} /> : null}
          onClick={toggleDensity}
        >
          {t('shell.density')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconDeviceDesktop size={15} />}
          rightSection={colorScheme === 'auto' ? <IconCheck size={14} /> : null}
          onClick={() => setColorScheme('auto')}
        >
          {t('shell.themeAuto')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => leave.mutate()}>
          {t('shell.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
