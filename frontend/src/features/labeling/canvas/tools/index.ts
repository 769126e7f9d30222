import { boxTool } from './box';
import { selectTool } from './select';
import type { Tool, ToolHost, ToolName } from './tool';

const TOOLS: Partial<Record<ToolName, (host: ToolHost) => Tool>> = {
  select: selectTool,
  box: boxTool,
};

export const makeTool = (name: ToolName, host: ToolHost): Tool => (TOOLS[name] ?? selectTool)(host);
