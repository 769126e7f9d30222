import { ActionIcon, Burger, Group, Kbd, Select, Text, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { Bell } from '@/features/notifications/Bell';
import { rememberProject, useCurrentProject, useProjects } from '@/shared/domain/project';
import { Logo } from '@/shared/ui/Logo';
import classes from './Header.module.css';
import { LanguageMenu } from './LanguageMenu';
import { SchemeButton } from './SchemeButton';
import { UserMenu } from './UserMenu';

interface HeaderProps {
  menuOpen: boolean;
  onMenu: () => void;
  onPalette: () => void;
  onShortcuts: () => void;
}

export const Header = memo(({ menuOpen, onMenu, onPalette, onShortcuts }: HeaderProps) => {
  const { t } = useTranslation();
  return (
    <Group h="100%" px={{ base: 'xs', sm: 'md' }} justify="space-between" wrap="nowrap" gap="xs">
      <Group gap="sm" wrap="nowrap" miw={0}>
        <Burger opened={menuOpen} onClick={onMenu} hiddenFrom="sm" size="sm" aria-label={t('nav.menu')} />
        <Link to="/" className={classes.brand} aria-label={['Atom', t('nav.overview')].join(' · ')}>
          <Logo size={26} />
          <Text span inherit visibleFrom="sm">
            Atom
          </Text>
        </Link>
        <ProjectSwitcher />
      </Group>
      <UnstyledButton onClick={onPalette} visibleFrom="sm" className={classes.search}>
        <IconSearch size={14} aria-hidden />
        <Text size="sm" c="dimmed" flex={1}>
          {t('shell.palette')}
        </Text>
        <Kbd size="xs">Ctrl K</Kbd>
      </UnstyledButton>
      <Group gap={4} wrap="nowrap" flex="none">
        <ActionIcon color="gray" size="lg" hiddenFrom="sm" onClick={onPalette} aria-label={t('shell.openPalette')}>
          <IconSearch size={18} />
        </ActionIcon>
        <Bell />
        <LanguageMenu />
        <SchemeButton />
        <UserMenu onShortcuts={onShortcuts} />
      </Group>
    </Group>
  );
});

function ProjectSwitcher() {
  const { t } = useTranslation();
  const found = useProjects().data?.results;
  const projects = found ?? [];
  const current = useCurrentProject();
  const navigate = useNavigate();
  const choose = (slug: string | null) => {
    if (!slug) return;
    rememberProject(slug);
    // Names of datasets and models belong to the old project: start at the overview.
    void navigate({ to: '/', search: { project: slug } });
  };
  return (
    <Select
      aria-label={t('shell.project')}
      placeholder={t(found ? 'shell.noProject' : 'common.loading')}
      size="xs"
      flex="0 1 180px"
      miw={64}
      data={projects.map((project) => ({ value: project.slug, label: project.name || project.slug }))}
      value={current?.slug ?? null}
      onChange={choose}
      searchable={projects.length > 8}
      allowDeselect={false}
      comboboxProps={{ withinPortal: true }}
    />
  );
}
