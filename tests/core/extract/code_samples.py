"""A few definitions in many languages, and which symbols a reader expects: ``name kind first-last`` by line."""

from __future__ import annotations

SAMPLES: dict[str, tuple[str, str]] = {
    "python": (
        '''import os

# Shared by all hives.
@cached
class Hive(Base):
    """A hive."""

    async def open(self, name: str) -> int:
        def inner():
            pass
        return 1

if os.name:
    def main():
        pass
''',
        "Hive class 3-11; Hive.open method 8-11; Hive.open.inner function 9-10; main function 14-15",
    ),
    "javascript": (
        """import x from "y";

/** Opens it. */
export function open(name) {
  return name;
}

class Hive extends Base {
  constructor() { super(); }
  close() {
    return 1;
  }
}

const add = (a, b) => a + b;
module.exports.run = function () {
  return 2;
};
""",
        (
            "open function 3-6; Hive class 8-13; Hive.constructor method 9-9; Hive.close method 10-12; "
            "add function 15-15; module.exports.run function 16-18"
        ),
    ),
    "typescript": (
        """export interface Shape {
  area(): number;
}

enum Color { Red, Green }

type Id = string;

export default class Circle implements Shape {
  area(): number {
    return 3;
  }
}

namespace Geo {
  export function far(): void {}
}
""",
        (
            "Shape interface 1-3; Shape.area method 2-2; Color enum 5-5; Id type 7-7; Circle class 9-13; "
            "Circle.area method 10-12; Geo namespace 15-17; Geo.far function 16-16"
        ),
    ),
    "java": (
        """package a.b;

import java.util.List;

/** A hive. */
@Entity
public class Hive {
    private int bees;

    public Hive(int bees) {
        this.bees = bees;
    }

    @Override
    public int count() {
        return bees;
    }

    interface Visitor { void visit(); }
    enum Kind { BIG, SMALL }
}

record Point(int x, int y) {}
""",
        (
            "Hive class 5-21; Hive.Hive constructor 10-12; Hive.count method 14-17; Hive.Visitor interface 19-19; "
            "Hive.Visitor.visit method 19-19; Hive.Kind enum 20-20; Point record 23-23"
        ),
    ),
    "c": (
        """#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A bee. */
struct bee {
    int age;
};

enum kind { QUEEN, DRONE };

static int *count(struct bee *all, int n)
{
    return 0;
}

int main(void) {
    return 0;
}
""",
        "MAX macro 2-2; bee struct 4-7; kind enum 9-9; count function 11-14; main function 16-18",
    ),
    "cpp": (
        """#include <string>

namespace hive {

template <typename T>
class Box {
 public:
  Box();
  int size() const { return 1; }
};

int Box<int>::grow(int by) {
  return by;
}

struct Bee { int age; };

}
""",
        (
            "hive namespace 3-18; hive.Box class 5-10; hive.Box.size method 9-9; hive.Box.grow function 12-14; "
            "hive.Bee struct 16-16"
        ),
    ),
    "csharp": (
        """using System;

namespace Apiary
{
    /// <summary>A hive.</summary>
    [Serializable]
    public class Hive : IHive
    {
        public Hive() { }
        public int Count(int n) => n;
        public string Name { get; set; }
    }

    interface IHive { int Count(int n); }
    struct Bee { }
    enum Kind { Queen }
}
""",
        (
            "Apiary namespace 3-17; Apiary.Hive class 5-12; Apiary.Hive.Hive constructor 9-9; "
            "Apiary.Hive.Count method 10-10; Apiary.IHive interface 14-14; Apiary.IHive.Count method 14-14; "
            "Apiary.Bee struct 15-15; Apiary.Kind enum 16-16"
        ),
    ),
    "go": (
        """package hive

import "fmt"

// Hive holds bees.
type Hive struct {
	bees int
}

type Opener interface {
	Open() error
}

// Open opens it.
func (h *Hive) Open(name string) error {
	return nil
}

func main() {
	fmt.Println("x")
}
""",
        "Hive struct 5-8; Opener interface 10-12; Hive.Open method 14-17; main function 19-21",
    ),
    "rust": (
        """use std::fmt;

/// A hive.
#[derive(Debug)]
pub struct Hive {
    bees: u32,
}

pub trait Opener {
    fn open(&self) -> bool;
}

impl Opener for Hive {
    // Opens it.
    fn open(&self) -> bool {
        true
    }
}

mod inner {
    pub enum Kind { Queen }
    pub fn run() {}
}

macro_rules! bee {
    () => {};
}
""",
        (
            "Hive struct 3-7; Opener trait 9-11; Opener.open method 10-10; Hive impl 13-18; Hive.open method 14-17; "
            "inner module 20-23; inner.Kind enum 21-21; inner.run function 22-22; bee macro 25-27"
        ),
    ),
    "ruby": (
        """require "set"

module Apiary
  # A hive.
  class Hive < Base
    def open(name)
      name
    end

    def self.build
      new
    end
  end
end
""",
        "Apiary module 3-14; Apiary.Hive class 4-13; Apiary.Hive.open method 6-8; Apiary.Hive.build method 10-12",
    ),
    "php": (
        """<?php
namespace Apiary;

interface Opener { public function open(); }

trait Counts {
    public function count() { return 1; }
}

class Hive implements Opener {
    public function open() {
        return true;
    }
}

function main() {
    return 1;
}
""",
        (
            "Opener interface 4-4; Opener.open method 4-4; Counts trait 6-8; Counts.count method 7-7; "
            "Hive class 10-14; Hive.open method 11-13; main function 16-18"
        ),
    ),
    "swift": (
        """import Foundation

protocol Opener {
    func open() -> Bool
}

class Hive: Opener {
    init(name: String) {
    }
    func open() -> Bool {
        return true
    }
}

struct Bee {
    var age: Int
}

func main() {
}
""",
        (
            "Opener protocol 3-5; Opener.open method 4-4; Hive class 7-13; Hive.init constructor 8-9; "
            "Hive.open method 10-12; Bee struct 15-17; "
            "main function 19-20"
        ),
    ),
    "kotlin": (
        """package a

interface Opener {
    fun open(): Boolean
}

class Hive : Opener {
    override fun open(): Boolean {
        return true
    }
}

object Registry {
    fun add() {}
}

fun main() {
    println("x")
}
""",
        (
            "Opener interface 3-5; Opener.open method 4-4; Hive class 7-11; Hive.open method 8-10; "
            "Registry object 13-15; Registry.add method 14-14; main function 17-19"
        ),
    ),
    "scala": (
        """package a

trait Opener {
  def open(): Boolean
}

class Hive extends Opener {
  def open(): Boolean = true
}

object Main {
  def main(args: Array[String]): Unit = {
    println("x")
  }
}
""",
        (
            "Opener trait 3-5; Opener.open method 4-4; Hive class 7-9; Hive.open method 8-8; Main object 11-15; "
            "Main.main method 12-14"
        ),
    ),
    "bash": (
        """#!/bin/bash
set -e

# Opens it.
open_hive() {
  echo "$1"
}

function close_hive {
  echo done
}
open_hive x
""",
        "open_hive function 4-7; close_hive function 9-11",
    ),
    "powershell": (
        """function Open-Hive {
    param($Name)
    Write-Host $Name
}

class Hive {
    [int] Count() { return 1 }
}
""",
        "Open-Hive function 1-4; Hive class 6-8; Hive.Count method 7-7",
    ),
    "lua": (
        """local M = {}

local function open(name)
  return name
end

function M.close(name)
  return name
end

function M:count()
  return 1
end

return M
""",
        "open function 3-5; M.close function 7-9; M.count function 11-13",
    ),
    "perl": (
        """package Hive;
use strict;

sub open_hive {
    my ($name) = @_;
    return $name;
}

sub close_hive {
    return 1;
}
1;
""",
        "open_hive subroutine 4-7; close_hive subroutine 9-11",
    ),
    "r": (
        """library(stats)

# Opens it.
open_hive <- function(name) {
  name
}

count = function(n) n + 1
""",
        "open_hive function 3-6; count function 8-8",
    ),
    "julia": (
        """module Hive

struct Bee
    age::Int
end

function open_hive(name)
    return name
end

count(n) = n + 1

end
""",
        "Hive module 1-13; Hive.Bee struct 3-5; Hive.open_hive function 7-9; Hive.count function 11-11",
    ),
    "ocaml": (
        """module Hive = struct
  let open_hive name = name
end

type bee = { age : int }

let rec count n =
  n + 1
""",
        "Hive module 1-3; Hive.open_hive function 2-2; bee type 5-5; count function 7-8",
    ),
    "elixir": (
        """defmodule Hive do
  @doc "Opens it."
  def open(name) do
    name
  end

  defp close(name), do: name

  defmacro bee(x) do
    x
  end
end
""",
        "Hive module 1-12; Hive.open function 2-5; Hive.close function 7-7; Hive.bee macro 9-11",
    ),
    "erlang": (
        """-module(hive).
-export([open/1]).

open(Name) ->
    Name.

count(0) -> 0;
count(N) -> N + 1.
""",
        "open function 4-5; count function 7-8",
    ),
    "clojure": (
        """(ns hive.core)

(defn open-hive
  "Opens it."
  [name]
  name)

(defmacro bee [x] x)

(def limit 5)
""",
        "open-hive function 3-6; bee macro 8-8; limit variable 10-10",
    ),
    "commonlisp": (
        """(defpackage :hive)

(defun open-hive (name)
  "Opens it."
  name)

(defmacro bee (x) x)
""",
        "open-hive function 3-5; bee macro 7-7",
    ),
    "elisp": (
        """(require 'cl-lib)

(defun open-hive (name)
  "Opens it."
  name)

(defmacro bee (x) x)
""",
        "open-hive function 3-5; bee macro 7-7",
    ),
    "scheme": (
        """(define (open-hive name)
  name)

(define limit 5)
""",
        "open-hive function 1-2; limit variable 4-4",
    ),
    "racket": (
        """#lang racket
(define (open-hive name)
  name)
(struct bee (age))
""",
        "open-hive function 2-3; bee struct 4-4",
    ),
    "dart": (
        """import 'dart:io';

/// A hive.
class Hive {
  int bees = 0;

  int count(int n) {
    return n;
  }
}

mixin Opener {
  void open() {}
}

enum Kind { queen, drone }

void main() {
  print('x');
}
""",
        (
            "Hive class 3-10; Hive.count method 7-9; Opener mixin 12-14; Opener.open method 13-13; Kind enum 16-16; "
            "main function 18-20"
        ),
    ),
    "sql": (
        """CREATE TABLE bees (
  id INT PRIMARY KEY,
  age INT
);

CREATE VIEW old_bees AS SELECT * FROM bees WHERE age > 5;

CREATE FUNCTION count_bees() RETURNS INT AS $$ SELECT 1; $$ LANGUAGE sql;

SELECT * FROM bees;
""",
        "bees table 1-4; old_bees view 6-6; count_bees function 8-8",
    ),
    "objc": (
        """#import <Foundation/Foundation.h>

@interface Hive : NSObject
- (int)count:(int)n;
@end

@implementation Hive
- (int)count:(int)n {
    return n;
}
@end

int main(void) {
    return 0;
}
""",
        (
            "Hive interface 3-5; Hive.count method 4-4; Hive implementation 7-11; Hive.count method 8-10; "
            "main function 13-15"
        ),
    ),
    "fortran": (
        """module hive
contains
  subroutine open_hive(name)
    character(*) :: name
  end subroutine open_hive

  function count(n) result(m)
    integer :: n, m
    m = n
  end function count
end module hive

program main
end program main
""",
        "hive module 1-11; hive.open_hive subroutine 3-5; hive.count function 7-10; main program 13-14",
    ),
    "solidity": (
        """pragma solidity ^0.8.0;

contract Hive {
    struct Bee { uint age; }
    event Opened(uint id);

    function open(uint id) public returns (bool) {
        return true;
    }
}

library Math { }
""",
        "Hive contract 3-10; Hive.Bee struct 4-4; Hive.Opened event 5-5; Hive.open method 7-9; Math library 12-12",
    ),
    "proto": (
        """syntax = "proto3";

message Bee {
  int32 age = 1;
  enum Kind { QUEEN = 0; }
}

service Hive {
  rpc Open(Bee) returns (Bee);
}
""",
        "Bee message 3-6; Bee.Kind enum 5-5; Hive service 8-10; Hive.Open rpc 9-9",
    ),
    "haskell": (
        """module Hive where

data Bee = Queen | Drone

class Opener a where
  open :: a -> Bool

count :: Int -> Int
count n = n + 1
""",
        "Bee data 3-3; Opener class 5-6; count function 8-9",
    ),
    "zig": (
        """const std = @import("std");

const Bee = struct {
    age: u32,

    pub fn older(self: Bee) u32 {
        return self.age;
    }
};

pub fn main() void {
}
""",
        "Bee struct 3-9; Bee.older method 6-8; main function 11-12",
    ),
    "nim": (
        """type
  Bee = object
    age: int

proc open(name: string): int =
  return 1
""",
        "Bee type 2-3; open procedure 5-6",
    ),
    "pascal": (
        """unit Hive;
interface
implementation
function Count(n: Integer): Integer;
begin
  Result := n;
end;
end.
""",
        "Count function 4-7",
    ),
    "tcl": (
        """proc open_hive {name} {
    return $name
}
""",
        "open_hive procedure 1-3",
    ),
    "vim": (
        """function! OpenHive(name)
  return a:name
endfunction
""",
        "OpenHive function 1-3",
    ),
    "terraform": (
        """resource "aws_instance" "web" {
  ami = "abc"
}

variable "size" {
  default = 1
}
""",
        "resource.aws_instance.web block 1-3; variable.size block 5-7",
    ),
    "graphql": (
        """type Bee {
  age: Int
}

enum Kind { QUEEN }
""",
        "Bee type 1-3; Kind enum 5-5",
    ),
    "verilog": (
        """module counter(input clk, output reg q);
  always @(posedge clk) q <= ~q;
endmodule
""",
        "counter module 1-3",
    ),
    "cmake": (
        """function(open_hive name)
  message(STATUS "${name}")
endfunction()
""",
        "open_hive function 1-3",
    ),
    "gdscript": (
        """class_name Hive

func open(name):
	return name

class Bee:
	func fly():
		pass
""",
        "open function 3-4; Bee class 6-8; Bee.fly method 7-8",
    ),
    "d": (
        """module hive;

class Hive {
    int count(int n) {
        return n;
    }
}

void main() {
}
""",
        "Hive class 3-7; Hive.count method 4-6; main function 9-10",
    ),
    "fsharp": (
        """module Hive

let openHive name =
    name
""",
        "Hive module 1-4; Hive.openHive function 3-4",
    ),
    "svelte": ("<script>\n  let a = 1;\n</script>\n<p>{a}</p>\n", ""),
    "css": (".bee { color: red; }\n", ""),
}
