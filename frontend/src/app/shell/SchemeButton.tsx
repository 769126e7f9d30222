import { ActionIcon, Tooltip, useComputedColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSchemeToggle } from './useSchemeToggle';

export function SchemeButton() {
  const { t } = useTranslation();
  const toggle = useSchemeToggle();
  const scheme = useComputedColorScheme('light');
  return (
    <Tooltip label={t('shell.toggleTheme')}>
      <ActionIcon color="gray" size="lg" visibleFrom="sm" onClick={toggle} aria-label={t('shell.toggleTheme')}>
        {scheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}
