import { Card, Group, SegmentedControl, Text, Title, useMantineColorScheme } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, type Language } from '@/i18n';
import { chooseLanguage } from '@/shared/domain/language';
import { DENSITIES, useDensity } from '@/shared/grid/density';

/** How the portal looks in this browser: language, theme and density. */
export function Appearance() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { density, choose } = useDensity();
  return (
    <section aria-label={t('appearance.title')}>
      <Title order={2} fz={16} mb={4}>
        {t('appearance.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('appearance.hint')}
      </Text>
      <Card>
        <Group gap="xl" align="flex-start">
          <Choice
            label={t('shell.language')}
            value={i18n.language}
            onChange={(value) => chooseLanguage(value as Language)}
            options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          />
          <Choice
            label={t('shell.theme')}
            value={colorScheme}
            onChange={setColorScheme}
            options={[
              { value: 'auto', label: t('shell.themeAuto') },
              { value: 'light', label: t('shell.themeLight') },
              { value: 'dark', label: t('shell.themeDark') },
            ]}
          />
          <Choice
            label={t('appearance.density')}
            value={density}
            onChange={choose}
            options={DENSITIES.map((value) => ({ value, label: t(`appearance.${value}`) }))}
          />
        </Group>
      </Card>
    </section>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: { value: T; label: string }[];
  onChange: (value: T) => void;
}

function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div>
      <Text size="sm" fw={500} mb={4} id={id}>
        {label}
      </Text>
      <SegmentedControl
        size="xs"
        aria-labelledby={id}
        value={value}
        data={options}
        onChange={(next) => onChange(next as T)}
      />
    </div>
  );
}
