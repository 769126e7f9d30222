import { useMantineColorScheme } from '@mantine/core';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import {
  IconApi,
  IconDeviceDesktop,
  IconFolders,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconRowInsertBottom,
  IconTable,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, type Language } from '@/i18n';
import { chooseLanguage } from '@/shared/domain/language';
import { rememberProject, useProjects, useRights } from '@/shared/domain/project';
import { useDensity } from '@/shared/grid/density';
import { API_DOCS } from '@/shared/ui/links';
import { notifyError } from '@/shared/ui/undo';
import { signOut } from '../session';
import { useSchemeToggle } from './useSchemeToggle';

/** The actions of the header and its menus. */
export function useShellActions(onShortcuts: () => void): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const toggleScheme = useSchemeToggle();
  const { setColorScheme } = useMantineColorScheme();
  const { toggle: toggleDensity } = useDensity();
  const { installation } = useRights();
  const tables: SpotlightActionData = {
    id: 'tables',
    label: t('shell.tables'),
    keywords: ['admin', 'tables'],
    leftSection: <IconTable size={18} />,
    onClick: () => window.location.assign('/admin/'),
  };
  const actions: SpotlightActionData[] = [
    {
      id: 'theme',
      label: t('shell.toggleTheme'),
      keywords: ['theme', 'dark', 'light'],
      leftSection: <IconMoon size={18} />,
      onClick: toggleScheme,
    },
    {
      id: 'theme-auto',
      label: t('palette.themeAuto'),
      keywords: ['theme', 'system'],
      leftSection: <IconDeviceDesktop size={18} />,
      onClick: () => setColorScheme('auto'),
    },
    {
      id: 'density',
      label: t('palette.density'),
      keywords: ['density', 'compact', 'comfortable'],
      leftSection: <IconRowInsertBottom size={18} />,
      onClick: toggleDensity,
    },
    {
      id: 'shortcuts',
      label: t('shell.shortcuts'),
      keywords: ['keyboard'],
      leftSection: <IconKeyboard size={18} />,
      onClick: onShortcuts,
    },
    ...(Object.keys(LANGUAGES) as Language[]).map((language) => ({
      id: `language-${language}`,
      label: LANGUAGES[language],
      keywords: ['language', t('shell.language')],
      leftSection: <IconLanguage size={18} />,
      onClick: () => chooseLanguage(language),
    })),
    {
      id: 'api-docs',
      label: t('shell.apiDocs'),
      keywords: ['api', 'rest', 'openapi'],
      leftSection: <IconApi size={18} />,
      onClick: () => window.location.assign(API_DOCS),
    },
    ...(installation ? [tables] : []),
    {
      id: 'sign-out',
      label: t('shell.signOut'),
      keywords: ['logout', 'sign out'],
      leftSection: <IconLogout size={18} />,
      onClick: () => void signOut().then(() => navigate({ to: '/login', search: {} }), notifyError),
    },
  ];
  return { group: t('common.actions'), actions };
}

export function useProjectActions(): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const actions = (useProjects().data?.results ?? []).map(
    (project): SpotlightActionData => ({
      id: `project-${project.slug}`,
      label: project.name || project.slug,
      description: project.slug,
      leftSection: <IconFolders size={18} />,
      onClick: () => {
        rememberProject(project.slug);
        void navigate({ to: '/', search: { project: project.slug } });
      },
    }),
  );
  return { group: t('shell.projects'), actions };
}
