import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { WorkPage } from './index';
import { refusal, serveTask, task } from './testTasks';

beforeEach(serveTask);

test('classes of a new task are nested in the form and sent with their ids', async () => {
  serveDatasets();
  serve('POST', 'projects/{project}/labelx/tasks/', task());
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Nested');
  for (const name of ['animal', 'dog']) {
    await userEvent.click(screen.getByRole('button', { name: 'Add a class' }));
    await userEvent.keyboard(name);
  }
  await userEvent.click(screen.getByRole('button', { name: 'Nest classes' }));
  await userEvent.click(screen.getByRole('combobox', { name: 'dog belongs to' }));
  await userEvent.click(await screen.findByRole('option', { name: 'animal' }));
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  const isTask = ({ line }: { line: string }) => line.startsWith('POST') && line.endsWith('/labelx/tasks/');
  await waitFor(() => expect(sent.some(isTask)).toBe(true));
  const made = [
    { id: 1, name: 'animal', parent: null },
    { id: 2, name: 'dog', parent: 1 },
  ];
  expect(sent.find(isTask)?.body).toMatchObject({ labels: made });
});

const version = { id: 'v', ref: 'v3', number: 3, message: '', file_count: 9 };
function serveDatasets() {
  serve('GET', 'projects/{project}/datasets/', listing({ id: 'd', name: 'pets', latest: version }));
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/', listing(version));
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/{ref}/stats/', {
    labels: {},
    splits: {},
    media_types: {},
    unlabelled: 9,
    unreadable: 0,
    unreadable_paths: [],
    unsplit: 0,
    unsplit_paths: [],
  });
  serve('GET', 'projects/{project}/labelx/task-preview/', (_: Request, url: URL) => {
    const all = url.searchParams.get('labelled') === 'any';
    return { items: all ? 12 : 7, left_out: { not_images: 2, unreadable: 1 } };
  });
}
const openForm = async (source: string) => {
  const { CreateTask } = await import('./task/CreateTask');
  return renderPage(<CreateTask source={source} onClose={() => {}} />, '/labeling', '/labeling');
};

test('a task without a name and without classes is refused at each field, and the first has the focus', async () => {
  serveDatasets();
  await openForm('yes');
  await userEvent.click(await screen.findByRole('button', { name: 'Create' }));
  await screen.findByText('Give the task a name.');
  screen.getByText('Choose a dataset.');
  screen.getByText(/needs at least two classes/);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name' })));
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
});

test('the form says how many images the task will have, and what is left out', async () => {
  serveDatasets();
  await openForm('pets@v3');
  await screen.findByText('The task will have 7 images.');
  screen.getByText('2 files are left out: they are no images that can be shown.');
  screen.getByText('1 image is left out: it cannot be read.');
  await userEvent.click(screen.getByRole('switch', { name: 'Only unlabelled images' }));
  await screen.findByText('The task will have 12 images.');
});

test('a link that asks for objects opens the form for drawing, on the pictures that have none', async () => {
  serveDatasets();
  serve('GET', 'projects/{project}/labelx/task-preview/', (_: Request, url: URL) => {
    const where = url.searchParams.get('where') ?? '';
    return { items: where.includes('objects.count IS NULL') ? 5 : 0, left_out: { not_images: 0, unreadable: 0 } };
  });
  const { CreateTask } = await import('./task/CreateTask');
  await renderPage(<CreateTask source="pets@v3" objects onClose={() => {}} />, '/labeling', '/labeling');
  await screen.findByText('The task will have 5 images.');
  expect(screen.getByRole('radio', { name: 'Draw objects' })).toHaveProperty('checked', true);
  expect(screen.getByRole('switch', { name: 'Only unlabelled images' })).toHaveProperty('checked', false);
});

test('a grid task starts from a template, and drawing has the smaller batch', async () => {
  serveDatasets();
  const template = { description: '', schema: {}, batch_size: 25 };
  const names = (...all: string[]) => all.map((name, id) => ({ id, name, color: '#009E73', hotkey: String(id + 1) }));
  serve(
    'GET',
    'labelx/templates/',
    listing(
      {
        ...template,
        key: 'censor',
        name: 'Censor',
        modality: 'image-classification',
        labels: names('clean', 'unsure'),
      },
      { ...template, key: 'person', name: 'Person', modality: 'image-objects', labels: names('person') },
    ),
  );
  await openForm('pets@v3');
  await userEvent.click(await screen.findByRole('combobox', { name: 'Start from' }));
  expect(screen.queryByRole('option', { name: 'Person' })).toBeNull();
  await userEvent.click(await screen.findByRole('option', { name: 'Censor' }));
  expect(await screen.findByRole('textbox', { name: 'Name of class 2' })).toHaveProperty('value', 'unsure');
  const size = () => screen.getByRole('textbox', { name: 'Images per batch' });
  expect(size()).toHaveProperty('value', '25');
  await userEvent.click(screen.getByRole('radio', { name: 'Draw objects' }));
  expect(size()).toHaveProperty('value', '8');
});

test('a task starts with the classes of the objects that its version has', async () => {
  serveDatasets();
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/{ref}/stats/', {
    labels: {},
    annotated: 2,
    object_labels: { dog: 3, cat: 1 },
  });
  serve('GET', 'labelx/templates/', listing());
  const skeleton = { points: [{ name: 'nose' }, { name: 'tail' }], edges: [[0, 1]], flips: [] };
  const dog = { id: 0, name: 'dog', color: '#0072B2', hotkey: '1', tools: ['keypoints'], skeleton, attributes: [] };
  const cat = { id: 1, name: 'cat', color: '#E69F00', hotkey: '2', tools: ['polygon'], attributes: [] };
  let fails = true;
  serve('GET', 'projects/{project}/labelx/version-classes/', (_: Request, url: URL) => {
    expect(url.searchParams.get('dataset')).toBe('pets@v3');
    if (fails) return problem(409, 'manifest_corrupt_x', 'The store does not answer.');
    return { labels: [dog, cat], schema: {}, counts: [], pictures: 2, complete: false };
  });
  const { CreateTask } = await import('./task/CreateTask');
  await renderPage(<CreateTask source="pets@v3" objects onClose={() => {}} />, '/labeling', '/labeling');
  const select = await screen.findByRole('combobox', { name: 'Start from' });
  await userEvent.click(select);
  await userEvent.click(await screen.findByRole('option', { name: 'Classes of pets@v3 (2 classes, objects: 4)' }));
  await screen.findByText('The store does not answer.');
  fails = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('group', { name: 'dog' });
  screen.getByRole('group', { name: 'cat' });
  screen.getByText(/pets@v3 has more objects or classes than were read/);
  expect(screen.queryByText('The store does not answer.')).toBeNull();
});

test('any dataset of the project can be labelled: they are searched on the server as one types', async () => {
  serveDatasets();
  const names = Array.from({ length: 300 }, (_, number) => `birds-${number}`);
  serve('GET', 'projects/{project}/datasets/', (_: Request, url: URL) => {
    const fitting = names.filter((name) => name.includes(url.searchParams.get('q') ?? ''));
    const found = fitting.slice(0, Number(url.searchParams.get('limit')));
    return listing(...found.map((name) => ({ id: name, name, latest: version })));
  });
  await openForm('pets@v3');
  const input = await screen.findByRole('combobox', { name: 'Dataset' });
  expect(input).toHaveProperty('value', 'pets');
  await userEvent.clear(input);
  await userEvent.type(input, 'birds-297');
  await userEvent.click(await screen.findByRole('option', { name: 'birds-297' }));
  expect(input).toHaveProperty('value', 'birds-297');
  await waitFor(() => expect(screen.getByRole('combobox', { name: 'Version' })).toHaveProperty('value', 'v3'));
  await screen.findByText('The task will have 7 images.');
  await userEvent.clear(input);
  await userEvent.type(input, 'whales');
  await screen.findByText('No dataset of that name in this project');
});

test('only classes are missing: the focus is on what adds them', async () => {
  serveDatasets();
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Sort them');
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText(/needs at least two classes/);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Add a class' })));
});

test('a new class has the focus, and every control of a class without a name has a name', async () => {
  serveDatasets();
  await openForm('pets@v3');
  const add = await screen.findByRole('button', { name: 'Add a class' });
  await userEvent.click(add);
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name of class 1' }));
  await userEvent.click(add);
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name of class 2' }));
  screen.getByRole('textbox', { name: 'Colour of class 2' });
  screen.getByRole('textbox', { name: 'Key of class 2' });
  await userEvent.click(screen.getByRole('button', { name: 'Remove class 1' }));
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Remove class 1' }));
  await userEvent.click(screen.getByRole('button', { name: 'Remove class 1' }));
  expect(document.activeElement).toBe(add);
});

test('what the server refuses is said at its field', async () => {
  serveDatasets();
  serve('POST', 'projects/{project}/labelx/tasks/', () =>
    refusal('task_name_taken', { name: ['This name is taken.'], 'labels.1.name': ['Too long.'] }),
  );
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Sort them');
  for (const [index, name] of ['cat', 'dog'].entries()) {
    await userEvent.click(screen.getByRole('button', { name: 'Add a class' }));
    await userEvent.type(screen.getByRole('textbox', { name: `Name of class ${index + 1}` }), name);
  }
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText('This name is taken.');
  screen.getByText('Too long.');
  expect(screen.queryByText('task_name_taken')).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name' })));
});

test.each([
  ['draft', 'This task has not been started'],
  ['paused', 'This task is paused'],
  ['published', 'This task is published'],
])('the work page of a %s task says so', async (state, words) => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ state }));
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => refusal('task_not_active', {}));
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(words);
  screen.getByRole('link', { name: 'Back to the task' });
  expect(screen.queryByRole('link', { name: 'Look again' }) === null).toBe(state === 'published');
});
