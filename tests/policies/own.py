"""Policies of one's own, as a file and as a module: what a name may lead to, good and bad. No test in here."""

from __future__ import annotations

from llama_envs.core.compile import kernel
from llama_envs.policies import PolicyKernel, ScriptedPolicy


class First:
    """The first legal action; it can be made without anything, too."""

    needs_worlds = False

    def __init__(self, game=None, argument="nothing"):
        self.game, self.argument = game, argument

    def act(self, view):
        return view.mask.argmax(axis=1)


class Bare(First):
    def __init__(self):
        super().__init__()


class ForGame(First):
    def __init__(self, game):
        super().__init__(game)


class ForBoth(First):
    def __init__(self, game, argument):
        super().__init__(game, argument)
        if argument == "wrong":
            raise ValueError("the argument must not be wrong.")


def build(game, argument=""):
    return ForBoth(game, argument)


@kernel
def choose(state, params, seat, mask, options, memory, streams, i):
    for action in range(len(mask)):
        if mask[action]:
            return action
    return -1


ready = First()
scripted = ScriptedPolicy(PolicyKernel(choose, needs_mask=True))
number = 7


def greedy(one, two, three):
    return First()


def nothing():
    return None


def failing():
    raise ZeroDivisionError("so it is")
