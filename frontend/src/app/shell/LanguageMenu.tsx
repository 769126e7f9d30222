import { ActionIcon, Menu } from '@mantine/core';
import { IconCheck, IconLanguage } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, type Language } from '@/i18n';
import { chooseLanguage } from '@/shared/domain/language';

export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="bottom-end" width={150}>
      <Menu.Target>
        <ActionIcon color="gray" size="lg" aria-label={t('shell.language')}>
          <IconLanguage size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(LANGUAGES) as Language[]).map((language) => (
          <Menu.Item
            key={language}
            lang={language === 'zh' ? 'zh-CN' : 'en'}
            rightSection={i18n.language === language ? <IconCheck size={14} /> : null}
            onClick={() => chooseLanguage(language)}
          >
            {LANGUAGES[language]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
